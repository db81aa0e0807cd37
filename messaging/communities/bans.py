"""Bans of accounts from a community.

A banned account cannot post, reply, quote, edit or react there; neither can the agents that it operates. It may read,
delete its own posts, remove its reactions and report posts, but its reports put no post back to review.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from django.db import transaction

from kernel.api.credentials import Credential
from kernel.cache.versions import invalidate
from kernel.database.sql import current_alias, fetch_one
from kernel.writes.transaction import retried
from messaging.cache_tags import SHOWN
from messaging.communities.content_rules import community_columns
from messaging.communities.moderators import is_moderator_or_super_admin, moderated_community
from messaging.models import Account, Act, Ban, Community, Decision
from messaging.models.account import OF_SERVICE
from messaging.models.moderation import moderated_by
from messaging.moderation.decisions import log_about_community
from messaging.moderation.exceptions import AccountNotFound, BannedFromCommunity, BanNotFound, ModeratorBanned
from messaging.pages.discussions import IS_CLOSED

FIELDS = [field.attname for field in Community._meta.concrete_fields]
COLUMNS = ", ".join(f"messaging_community.{field.column}" for field in Community._meta.concrete_fields)
HAS_BANNED = """EXISTS (
    SELECT FROM messaging_ban ban
    WHERE ban.community_id = messaging_community.id AND ban.account_id = ANY(%(banned_with)s::uuid[])
)"""
IS_MODERATOR = """EXISTS (
    SELECT FROM messaging_moderator moderator
    WHERE moderator.community_id = messaging_community.id AND moderator.account_id = %(account)s
)"""
# Not by the ORM, which takes longer to compile these than PostgreSQL to run them.
OPEN = "SELECT {more}, {columns} FROM messaging_community WHERE id = %(community)s"


class OpenDiscussion(NamedTuple):
    """The community of a new post on a page. `is_moderator`: whether the author moderates it."""

    community: Community
    is_closed: bool
    is_moderator: bool


def open_community(
    *, community_id: UUID, auth: Credential, page_url: str | None, source_embed: UUID | None
) -> Community | None:
    """The community with this id, in one query with the ban and what the content rules read for a post on this page.

    Raises BannedFromCommunity (403).
    """
    found = _open(HAS_BANNED, {"community": community_id}, auth, page_url, source_embed)
    return None if found is None else found[0]


def open_discussion(
    *, community_id: UUID, page_id: str, auth: Credential, page_url: str | None, source_embed: UUID | None
) -> OpenDiscussion | None:
    """Read the same as `open_community`, in one query with what a new post on a page needs.

    `is_closed` is exact if the transaction has read the targets of the post before (see `messaging.pages.discussions`).
    """
    values = {"community": community_id, "page": page_id, "account": auth.user.pk}
    found = _open(f"{HAS_BANNED}, {IS_CLOSED}, {IS_MODERATOR}", values, auth, page_url, source_embed)
    return None if found is None else OpenDiscussion(found[0], *found[1])


def _open(
    more: str, values: Mapping[str, Any], auth: Credential, page_url: str | None, source_embed: UUID | None
) -> tuple[Community, Sequence[Any]] | None:
    """(the community, the values of `more` after that of HAS_BANNED)."""
    rules = community_columns(page_url=page_url, source_embed=source_embed)
    statement = OPEN.format(more=", ".join([more, *(column.sql for column in rules)]), columns=COLUMNS)
    of_rules = {name: value for column in rules for name, value in column.values.items()}
    row = fetch_one(statement, {**values, **of_rules, "banned_with": auth.banned_with})
    if row is None:
        return None
    has_banned, *found = row[: -len(FIELDS)]
    if has_banned:
        raise BannedFromCommunity
    community = Community.from_db(current_alias(), FIELDS, row[-len(FIELDS) :])
    first = len(found) - len(rules)
    for column, value in zip(rules, found[first:], strict=True):
        setattr(community, column.name, value)
    return community, found[:first]


def refuse_banned(*, communities: Any, auth: Credential) -> None:
    """Raises BannedFromCommunity (403) for an account that one of these has banned: ids, or a query of ids."""
    if Ban.objects.filter(community__in=communities, account__in=auth.banned_with).exists():
        raise BannedFromCommunity


@retried
@transaction.atomic
def ban_account(*, community_id: UUID, account_id: UUID, by: Account, reason: str = "") -> Ban:
    """Ban a person or an agent from the community. Repeated, it changes nothing: the first reason stays.

    Raises CommunityNotFound or AccountNotFound (404), ModeratorRequired (403), ModeratorBanned (409).
    """
    community = moderated_community(community_id=community_id, by=by, lock=True)
    # All erased people share an heir, whose id the API shows as that of each.
    account = Account.objects.filter(pk=account_id).exclude(OF_SERVICE).first()
    if account is None:
        raise AccountNotFound
    if is_moderator_or_super_admin(community, account):
        raise ModeratorBanned
    ban, is_new = Ban.objects.get_or_create(community=community, account=account, defaults={"reason": reason})
    if is_new:
        invalidate(SHOWN)
        log_about_community(community, Act.BANNED, by=by, verb=f"{account} banned", reason=reason, account=account)
    return ban


@retried
@transaction.atomic
def lift_ban(*, community_id: UUID, account_id: UUID, by: Account, reason: str = "") -> None:
    """Raises CommunityNotFound or BanNotFound (404), ModeratorRequired (403)."""
    community = moderated_community(community_id=community_id, by=by, lock=True)
    ban = Ban.objects.select_related("account").filter(community=community, account=account_id).first()
    if ban is None:
        raise BanNotFound
    ban.delete()
    invalidate(SHOWN)
    verb = f"Ban of {ban} lifted"
    log_about_community(community, Act.UNBANNED, by=by, verb=verb, reason=reason, account=ban.account)


def lock_communities_of_bans(account_id: UUID) -> None:
    """The communities that have banned an account, before the account itself is locked, as in `ban_account`."""
    banned = Ban.objects.filter(account=account_id)
    list(Community.objects.select_for_update(no_key=True).filter(pk__in=banned.values("community")).order_by("pk"))


def hand_over_bans(*, of: UUID, to: Account) -> None:
    """The bans of an account, and the decisions about it, whose posts are those of another one now, are of that one.

    The caller has locked the communities. Nobody who moderates a community is banned from it.
    """
    bans = Ban.objects.filter(account=of).exclude(community__in=moderated_by(to))
    bans.exclude(community__in=Ban.objects.filter(account=to).values("community")).update(account=to)
    Decision.objects.filter(account=of).update(account=to)
