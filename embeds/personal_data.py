"""The embeds of a person, for an export, and their deletion."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from embeds.forgetting import blank, delete_numbers
from embeds.models import Embed, Sighting, SiteAccount
from kernel.admin.audit import forget_entries_about
from kernel.cache.versions import invalidate
from kernel.database.sql import database_now
from kernel.personal_data import Section, Subject
from messaging.cache_tags import embed_tag
from messaging.privacy.exporters import table

BATCH = 20
OF_AN_EMBED = (
    *("id", "name", "description", "community_id", "domain_whitelist", "domain_blacklist", "page_rules"),
    *("trigger_config", "status", "blocked_words", "sign_in", "sign_in_url", "jwks_url"),
    *("created_at", "updated_at", "deleted_at"),
)

OF_A_SITE_ACCOUNT = ("community_id", "subject", "email", "is_moderator", "created_at", "signed_in_at")


def sections(account_id: UUID) -> Iterable[Section]:
    embeds = Embed.objects.filter(owner=account_id)
    yield table("embeds", "Your sites, also those that you have deleted.", embeds, OF_AN_EMBED)
    seen = Sighting.objects.filter(embed_id__in=embeds.values("pk"))
    columns = ("embed_id", "host", "path", "first_seen_at", "last_seen_at")
    yield Section("sightings", "Where your widgets were seen.", seen, seen.values(*columns))
    accounts = SiteAccount.objects.filter(account=account_id)
    yield table("site_account", "What the site that signs you in says about you.", accounts, OF_A_SITE_ACCOUNT)


def erase(subject: Subject) -> int:
    """Delete a batch of embeds as their owner would, with what they say; posts still refer to the rows."""
    ids = list(Embed.objects.filter(owner__in=subject.account_ids).values_list("pk", flat=True)[:BATCH])
    # First, so that no further events are counted.
    live = Embed.objects.live().filter(pk__in=ids)
    if deleted := live.update(deleted_at=database_now()):
        for embed_id in ids:
            invalidate(embed_tag(embed_id))
        return deleted
    if deleted := delete_numbers(ids):
        return deleted
    embeds = list(Embed.objects.select_for_update().filter(pk__in=ids).order_by("pk"))
    for embed in embeds:
        blank(embed)
        embed.owner_id = subject.heir_id
        embed.save()
    forget_entries_about(Embed, ids)
    return len(embeds)
