"""A person takes over the posts of a foreign author who has the same mail address, which is verified here.

A foreign author is one of an import, or the account of a site that says this address of it.
"""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

from django.apps import apps
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.db.models.functions import Lower, Now

from embeds.models import SiteAccount
from kernel.cache.versions import EVERYTHING, invalidate
from kernel.database.sql import database_now, execute
from kernel.writes.transaction import retried
from messaging.communities.bans import hand_over_bans, lock_communities_of_bans
from messaging.models import Account, AccountKind, Ban, HandleClaim, Message
from messaging.moderation.bulk_jobs import hand_over_jobs, is_changing_all_posts
from messaging.moderation.reporting import move_closing
from moving.exceptions import ImportNotFound, PostsChanging
from moving.imports.progress import lock_source
from moving.models import ImportedAuthor
from reactions import queries
from reactions.models import Reaction

BATCH = 500
# In one request; a further one goes on.
BATCHES_MAX = 20


def claimable_by(person: Account) -> QuerySet[ImportedAuthor]:
    """The foreign authors with a verified address of the person whom nobody has claimed."""
    return unclaimed_of([person.pk]).select_related("account", "community")


def unclaimed_of(account_ids: Collection[UUID]) -> QuerySet[ImportedAuthor]:
    theirs = _addresses_of(account_ids)
    authors = ImportedAuthor.objects.filter(email__in=theirs, claimed_at=None, account__kind=AccountKind.HUMAN)
    return authors.exclude(email="").order_by("pk")


def site_accounts_of(account_ids: Collection[UUID]) -> QuerySet[SiteAccount]:
    """The accounts of sites with a verified address of these people."""
    return SiteAccount.objects.filter(email__in=_addresses_of(account_ids)).exclude(email="").order_by("pk")


def site_accounts_claimable_by(person: Account) -> QuerySet[SiteAccount]:
    """Those with posts. A ban stays with the account of the site, and so do the posts of a banned one."""
    has_posts = Exists(Message.objects.filter(author=OuterRef("pk")))
    is_banned = Exists(Ban.objects.filter(account=OuterRef("pk")))
    return site_accounts_of([person.pk]).filter(has_posts, ~is_banned).select_related("account", "community")


def _addresses_of(account_ids: Collection[UUID]) -> list[str]:
    addresses = apps.get_model("account", "EmailAddress")._default_manager.filter(user__in=account_ids, verified=True)
    return list(addresses.annotate(lower=Lower("email")).values_list("lower", flat=True))


def has_claimed(*, author_id: int, person: Account) -> bool:
    return ImportedAuthor.objects.filter(pk=author_id, account=person).exclude(claimed_at=None).exists()


def claim(*, author_id: int, person: Account) -> bool:
    """Give the posts of the author to the person; False: some are left, and another call goes on with them.

    Raises ImportNotFound (404) for an author of another address, or who is claimed, and PostsChanging (409).
    """
    author = claimable_by(person).select_related("move").filter(pk=author_id).first()
    if author is None:
        raise ImportNotFound
    for _ in range(BATCHES_MAX):
        if not _give(author.account_id, person.pk):
            return _end(author, person)
    return False


def claim_site_account(*, account_id: UUID, person: Account) -> bool:
    """Give the posts and reactions of a site's account to the person; False as for `claim`.

    The site goes on signing its reader in to the account, which has no posts then. Repeated, it changes nothing. Raises
    ImportNotFound (404) for an account of another address or a banned one, and PostsChanging (409).
    """
    if not site_accounts_of([person.pk]).filter(pk=account_id).exists():
        raise ImportNotFound
    if not site_accounts_claimable_by(person).filter(pk=account_id).exists():
        return True
    for _ in range(BATCHES_MAX):
        if not _give(account_id, person.pk):
            return _end_of_site_account(account_id, person)
    return False


@retried
@transaction.atomic
def _end_of_site_account(account_id: UUID, person: Account) -> bool:
    execute(queries.LOCK, {"account": person.pk})
    _give_reactions(account_id, person.pk)
    return True


@retried
@transaction.atomic
def _give(from_id: UUID, to_id: UUID) -> int:
    """A batch of posts; returns their number. Raises PostsChanging: the job would miss these posts."""
    if is_changing_all_posts(from_id):
        raise PostsChanging
    posts = Message.objects.filter(author=from_id).order_by("id")
    ids = list(posts.select_for_update(no_key=True).values_list("pk", flat=True)[:BATCH])
    invalidate(EVERYTHING)
    now = database_now()
    move_closing(ids, to=now)
    return Message.objects.filter(pk__in=ids).update(author_id=to_id, updated_at=now)


@retried
@transaction.atomic
def _end(author: ImportedAuthor, person: Account) -> bool:
    """Record the claim. Posts of a later file can be claimed again. The person cannot react meanwhile."""
    lock_source(author.move)
    lock_communities_of_bans(author.account_id)
    # No job about the account is committed between `hand_over_jobs` and its deletion, which would delete the job.
    list(Account.objects.select_for_update().filter(pk=author.account_id))
    execute(queries.LOCK, {"account": person.pk})
    if _give(author.account_id, person.pk) == BATCH:
        return False
    claimed = ImportedAuthor.objects.filter(pk=author.pk, claimed_at=None)
    if not claimed.update(account=person, claimed_at=Now(), email=""):
        raise ImportNotFound
    _give_reactions(author.account_id, person.pk)
    hand_over_jobs(of=author.account_id, to=person.pk)
    hand_over_bans(of=author.account_id, to=person)
    _remove(author.account)
    return True


def _give_reactions(from_id: UUID, to_id: UUID) -> None:
    """An account has one reaction to a post: where the person has one, the other stays with its account."""
    own = Reaction.objects.filter(account=to_id, message=OuterRef("message"))
    Reaction.objects.filter(~Exists(own), account=from_id).update(account=to_id)


def _remove(account: Account) -> None:
    if not Reaction.objects.filter(account=account).exists():
        HandleClaim.objects.filter(handle=account.handle).delete()
        account.delete()
