"""What is left of a deleted embed: a row without texts, to which its posts refer."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from functools import reduce
from operator import or_
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, Model, OuterRef, Q

from embeds.analytics.rollup import LOCK
from embeds.models import (
    DailyCount,
    DailyVisitors,
    Embed,
    EmbedStatus,
    Sighting,
    SiteSecret,
    default_page_rules,
    default_trigger_config,
)
from kernel.cache.versions import invalidate
from kernel.database.sql import database_now, execute
from kernel.writes.transaction import retried
from messaging.accounts.deleted import DELETED_NAME
from messaging.cache_tags import embed_tag
from messaging.models import Webhook, WebhookTarget
from messaging.webhooks.services import delete_webhooks_of

BATCH = 5_000
COUNTED: tuple[type[Model], ...] = (DailyCount, DailyVisitors, Sighting)
# Raw events first: the roll-up would count them again.
TABLES = ("embeds_event", "embeds_visitor", *(model._meta.db_table for model in COUNTED))
# A partition may have a row at the same ctid, of another embed.
DELETE = """
DELETE FROM {table} WHERE embed_id = ANY(%(ids)s) AND ctid = ANY(ARRAY(
    SELECT ctid FROM {table} WHERE embed_id = ANY(%(ids)s) LIMIT {count:d} FOR UPDATE SKIP LOCKED
))
"""
IS_BLANK = Q(
    name=DELETED_NAME,
    description="",
    domain_whitelist=[],
    domain_blacklist=[],
    blocked_words=[],
    page_rules=default_page_rules(),
    trigger_config=default_trigger_config(),
    trusted_entries=None,
    sign_in_url="",
    jwks_url="",
    site_secret=None,
)


def delete_numbers(ids: Collection[UUID]) -> int:
    """Delete at most a batch of rows about these embeds; returns their number, 0 if there are none."""
    execute(LOCK)
    for table in TABLES:
        if deleted := execute(DELETE.format(table=table, count=BATCH), {"ids": list(ids)}):
            return deleted
    return 0


def blank(embed: Embed) -> None:
    """Delete an embed, unless it is, and what its owner wrote. The caller saves it."""
    embed.name, embed.description = DELETED_NAME, ""
    embed.domain_whitelist, embed.domain_blacklist, embed.blocked_words = [], [], []
    embed.page_rules, embed.trigger_config = default_page_rules(), default_trigger_config()
    embed.sign_in_url = embed.jwks_url = ""
    SiteSecret.objects.filter(embed=embed).delete()
    # The decisions of super admins end with the embed.
    embed.trusted_entries = None
    embed.status = embed.status_to_restore = EmbedStatus.ACTIVE
    embed.deleted_at = embed.deleted_at or database_now()
    invalidate(embed_tag(embed.pk))


def prune(*, now: datetime, dry_run: bool) -> dict[str, int]:
    """Delete the numbers and texts of deleted embeds, for the command `prune`."""
    numbers = (Exists(model._default_manager.filter(embed_id=OuterRef("pk"))) for model in COUNTED)
    webhooks = Exists(Webhook.objects.ending_with(WebhookTarget.EMBED, OuterRef("pk")))
    left = Embed.objects.filter(~IS_BLANK | reduce(or_, numbers, Q(webhooks)), deleted_at__isnull=False)
    if dry_run:
        return {"deleted embeds": left.count()}
    ids = list(left.order_by("pk").values_list("pk", flat=True))
    return {"deleted embeds": sum(map(_forget, ids))}


def _forget(embed_id: UUID) -> bool:
    while _delete_batch(embed_id):
        pass
    return _blank(embed_id)


@retried
@transaction.atomic
def _delete_batch(embed_id: UUID) -> int:
    return delete_numbers([embed_id])


@retried
@transaction.atomic
def _blank(embed_id: UUID) -> bool:
    """False if another transaction has locked the row: the next run blanks it."""
    embed = Embed.objects.select_for_update(skip_locked=True).filter(pk=embed_id).first()
    if embed is None:
        return False
    blank(embed)
    embed.save()
    delete_webhooks_of(target_kind=WebhookTarget.EMBED, target_id=embed_id)
    return True
