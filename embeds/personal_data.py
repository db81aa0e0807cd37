"""The embeds of a person, for an export, and their deletion."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from django.utils import timezone

from config.admin.audit import forget_entries_about
from config.cache.versions import invalidate
from config.personal_data import Section, Subject
from embeds.cache_tags import embed_tag
from embeds.models import DailyCount, DailyVisitors, Embed, EmbedStatus
from embeds.models.embed import default_page_rules, default_trigger_config
from messaging.deleted_accounts import DELETED_NAME
from messaging.personal_data.exporters import table

BATCH = 20
OF_AN_EMBED = (
    *("id", "name", "description", "community_id", "domain_whitelist", "domain_blacklist", "page_rules"),
    *("trigger_config", "status", "blocked_words", "created_at", "updated_at", "deleted_at"),
)


def sections(account_id: UUID) -> Iterable[Section]:
    embeds = Embed.objects.filter(owner=account_id)
    yield table("embeds", "Your sites, also those that you have deleted.", embeds, OF_AN_EMBED)


def erase(subject: Subject) -> int:
    """Delete a batch of embeds as their owner would, with what they say; posts still refer to the rows."""
    ids = list(Embed.objects.filter(owner__in=subject.account_ids).values_list("pk", flat=True)[:BATCH])
    embeds = list(Embed.objects.select_for_update().filter(pk__in=ids).order_by("pk"))
    for embed in embeds:
        _blank(embed)
        embed.owner_id = subject.heir_id
        embed.save()
        invalidate(embed_tag(embed.pk))
    DailyCount.objects.filter(embed_id__in=ids).delete()
    DailyVisitors.objects.filter(embed_id__in=ids).delete()
    forget_entries_about(Embed, ids)
    return len(embeds)


def _blank(embed: Embed) -> None:
    embed.name, embed.description = DELETED_NAME, ""
    embed.domain_whitelist, embed.domain_blacklist, embed.blocked_words = [], [], []
    embed.page_rules, embed.trigger_config = default_page_rules(), default_trigger_config()
    # A super admin's decision ends with the embed.
    embed.status = embed.status_to_restore = EmbedStatus.ACTIVE
    embed.deleted_at = embed.deleted_at or timezone.now()
