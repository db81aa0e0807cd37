"""The embeds of a person, for an export, and their deletion."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from django.utils import timezone

from config.admin.audit import forget_entries_about
from config.cache.versions import invalidate
from config.database.sql import execute
from config.personal_data import Section, Subject
from embeds.analytics.rollup import LOCK
from embeds.cache_tags import embed_tag
from embeds.models import DailyCount, DailyVisitors, Embed, EmbedStatus, Sighting
from embeds.models.embed import default_page_rules, default_trigger_config
from messaging.deleted_accounts import DELETED_NAME
from messaging.personal_data.exporters import table

BATCH = 20
RAW_TABLES = ("embeds_event", "embeds_visitor")
OF_AN_EMBED = (
    *("id", "name", "description", "community_id", "domain_whitelist", "domain_blacklist", "page_rules"),
    *("trigger_config", "status", "blocked_words", "created_at", "updated_at", "deleted_at"),
)


def sections(account_id: UUID) -> Iterable[Section]:
    embeds = Embed.objects.filter(owner=account_id)
    yield table("embeds", "Your sites, also those that you have deleted.", embeds, OF_AN_EMBED)
    seen = Sighting.objects.filter(embed_id__in=embeds.values("pk"))
    columns = ("embed_id", "host", "path", "first_seen_at", "last_seen_at")
    yield Section("sightings", "Where your widgets were seen.", seen, seen.values(*columns))


def erase(subject: Subject) -> int:
    """Delete a batch of embeds as their owner would, with what they say; posts still refer to the rows."""
    ids = list(Embed.objects.filter(owner__in=subject.account_ids).values_list("pk", flat=True)[:BATCH])
    embeds = list(Embed.objects.select_for_update().filter(pk__in=ids).order_by("pk"))
    for embed in embeds:
        _blank(embed)
        embed.owner_id = subject.heir_id
        embed.save()
        invalidate(embed_tag(embed.pk))
    _delete_counts(ids)
    forget_entries_about(Embed, ids)
    return len(embeds)


def _delete_counts(ids: list[UUID]) -> None:
    """Raw events first, under the lock of the roll-up, which would count them again."""
    execute(LOCK)
    for table_name in RAW_TABLES:
        execute(f"DELETE FROM {table_name} WHERE embed_id = ANY(%s)", [ids])  # noqa: S608  our own names
    for model in (DailyCount, DailyVisitors, Sighting):
        model.objects.filter(embed_id__in=ids).delete()


def _blank(embed: Embed) -> None:
    embed.name, embed.description = DELETED_NAME, ""
    embed.domain_whitelist, embed.domain_blacklist, embed.blocked_words = [], [], []
    embed.page_rules, embed.trigger_config = default_page_rules(), default_trigger_config()
    # A super admin's decision ends with the embed.
    embed.status = embed.status_to_restore = EmbedStatus.ACTIVE
    embed.deleted_at = embed.deleted_at or timezone.now()
