"""Who moderates a community. All changes of its people lock the row of the community first."""

from __future__ import annotations

from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef, Q

from kernel.api import throttling
from kernel.cache.versions import EVERYTHING, invalidate
from kernel.writes.transaction import retried
from messaging.accounts.exceptions import PersonNotFound
from messaging.models import Account, AccountKind, Act, Ban, Community, Embedding, Message, Moderator
from messaging.models.account import OF_SERVICE
from messaging.models.moderation import MODERATORS_MAX
from messaging.moderation.decisions import log_about_community
from messaging.moderation.exceptions import (
    CreatorProtected,
    LastModerator,
    ModeratorBanned,
    ModeratorNotFound,
    ModeratorRequired,
    TooManyModerators,
)
from messaging.posts.exceptions import CommunityNotFound, MessageNotFound


def require_moderator_of_post(*, message_id: UUID, by: Account) -> None:
    """Raises MessageNotFound (404), ModeratorRequired (403). Super admins moderate posts without a community."""
    row = Message.objects.filter(pk=message_id).values_list("community_id", flat=True)
    found = list(row)
    if not found:
        raise MessageNotFound
    if not moderates(by, found[0]):
        raise ModeratorRequired


def moderated_community(*, community_id: UUID, by: Account, lock: bool = False) -> Community:
    """Raises CommunityNotFound (404), ModeratorRequired (403). `lock`: in a transaction, against other changes."""
    communities = Community.objects.select_for_update(no_key=True) if lock else Community.objects.all()
    community = communities.filter(pk=community_id).first()
    if community is None:
        raise CommunityNotFound
    if not moderates(by, community_id):
        raise ModeratorRequired
    return community


def moderates(account: Account, community_id: UUID | None) -> bool:
    if account.is_superuser:
        return True
    return community_id is not None and Moderator.objects.filter(community=community_id, account=account).exists()


def require_embeddable(*, community_id: UUID, by: Account) -> None:
    """Raises CommunityNotFound (404), and ModeratorRequired (403) unless the account may choose it for an embed.

    In a transaction: its row is locked until the end, against a change of this rule and of its moderators.
    """
    row = Community.objects.select_for_update(no_key=True).filter(pk=community_id)
    rule = row.values_list("embedding", flat=True).first()
    if rule is None:
        raise CommunityNotFound(field="communityId")
    if rule != Embedding.OPEN and not moderates(by, community_id):
        raise ModeratorRequired(field="communityId")


def embeddable_by(account: Account) -> Q:
    """The condition on communities that the account may choose for an embed."""
    if account.is_superuser:
        return Q()
    moderated = Moderator.objects.filter(community=OuterRef("pk"), account=account)
    return Q(embedding=Embedding.OPEN) | Q(Exists(moderated))


def moderates_any(account: Account) -> bool:
    """Whether the account moderates a community."""
    return account.is_superuser or Moderator.objects.filter(account=account).exists()


@retried
@transaction.atomic
def add_moderator(*, community_id: UUID, handle: str, by: Account) -> Moderator:
    """Let a person moderate the community. Repeated, it changes nothing.

    Raises CommunityNotFound or PersonNotFound (404), ModeratorRequired (403), ModeratorBanned or TooManyModerators
    (409), or RateLimited (429).
    """
    community = moderated_community(community_id=community_id, by=by, lock=True)
    people = Account.objects.filter(~OF_SERVICE, kind=AccountKind.HUMAN, is_active=True)
    person = people.filter(handle=handle.removeprefix("@")).first()
    if person is None:
        raise PersonNotFound(field="handle")
    added, is_new = appoint(community, person)
    if is_new:
        throttling.hit("new_moderator", str(by.pk))
        log_about_community(community, Act.ADDED, by=by, verb=f"Moderator {person} added", account=person)
    return added


def appoint(community: Community, person: Account) -> tuple[Moderator, bool]:
    """The moderator, and whether it is new. The caller has locked the community, and logs it.

    Raises PersonNotFound (404) for the account of a site of another community, ModeratorBanned or TooManyModerators
    (409).
    """
    moderators = {row.account_id: row for row in community.moderators.all()}
    if person.pk in moderators:
        return moderators[person.pk], False
    if person.site_community_id not in (None, community.pk):
        raise PersonNotFound(field="handle")
    if Ban.objects.filter(community=community, account=person).exists():
        raise ModeratorBanned
    if len(moderators) >= MODERATORS_MAX:
        raise TooManyModerators(max=MODERATORS_MAX)
    added = Moderator.objects.create(community=community, account=person)
    # Any list may contain a post of theirs, with their role.
    invalidate(EVERYTHING)
    return added, True


@retried
@transaction.atomic
def remove_moderator(*, community_id: UUID, account_id: UUID, by: Account) -> None:
    """End a person's moderation of the community, one's own too.

    Raises CommunityNotFound or ModeratorNotFound (404), ModeratorRequired or CreatorProtected (403), LastModerator
    (409).
    """
    community = moderated_community(community_id=community_id, by=by, lock=True)
    moderators = {row.account_id: row for row in community.moderators.select_related("account")}
    removed = moderators.get(account_id)
    if removed is None:
        raise ModeratorNotFound
    if not by.is_superuser:
        if account_id == community.created_by_id != by.pk:
            raise CreatorProtected
        if {row.account_id for row in moderators.values() if row.account.can_act} <= {account_id}:
            raise LastModerator
    removed.delete()
    log_about_community(community, Act.REMOVED, by=by, verb=f"Moderator {removed} removed", account=removed.account)
    invalidate(EVERYTHING)


def is_moderator_or_super_admin(community: Community, account: Account) -> bool:
    return Account.objects.filter(Q(is_superuser=True) | Q(moderates__community=community), pk=account.pk).exists()
