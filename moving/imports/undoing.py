"""Undoes a whole import, in batches, the last replies first. May be stopped and run again.

A post that others have answered or quoted since becomes a deleted one, as if its author had deleted it; the rest goes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from functools import partial
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef, Q
from django.db.models.functions import Now

from kernel.admin.actions import REASON_MAX
from kernel.admin.audit import forget_names_about
from kernel.cache.versions import EVERYTHING, invalidate
from kernel.database.sql import database_now, execute, fetch_all
from kernel.writes.transaction import retried
from messaging.accounts.deleted import HEIR_IDS
from messaging.models import (
    Account,
    Act,
    Decision,
    HandleClaim,
    HiddenHere,
    Message,
    MessageStatus,
    MessageVersion,
    Pin,
    Report,
)
from messaging.moderation.decisions import note_for_moderators
from messaging.posts.services import count_answers
from messaging.privacy.erasing import heirs
from messaging.privacy.posts import DELETED
from moving.exceptions import ImportBusy
from moving.imports.announcing import announce, count_on_pages
from moving.imports.progress import Step, Tell, lock_source
from moving.models import (
    CAN_UNDO,
    CAN_UNDO_POSTS,
    UNDO_STATES,
    ImportedAuthor,
    ImportedPost,
    Move,
    MovePart,
    MoveStatus,
)
from reactions.models import Reaction

BATCH = 500
# With the posts that they answer and quote, whose counts change.
LOCK = """
SELECT FROM messaging_message WHERE id IN (
    SELECT unnest(ARRAY[id, parent_id, quote_id]) FROM messaging_message WHERE id = ANY(%s::uuid[])
) ORDER BY id FOR UPDATE
"""
REPLIES = "SELECT id, parent_id FROM messaging_message WHERE parent_id = ANY(%s::uuid[])"
QUOTES = "SELECT DISTINCT quote_id FROM messaging_message WHERE quote_id = ANY(%s::uuid[]) AND id <> ALL(%s::uuid[])"
DELETE_POSTS = "DELETE FROM messaging_message WHERE id = ANY(%s::uuid[])"


@retried
@transaction.atomic
def begin_undo(move: Move, *, by: Account | None, reason: str = "") -> None:
    """From now on no process writes posts of the import. `by` None: a command.

    The log of the community gets an entry, with the name of the file. One that is being undone goes on.

    Raises ImportBusy (409) unless it can be undone.
    """
    posts = ImportedPost.objects.filter(move=move)
    can_undo = Q(status__in=CAN_UNDO) | Q(Exists(posts), status__in=CAN_UNDO_POSTS)
    moves = Move.objects.filter(pk=move.pk)
    values = {"attempts": 0, "done": 0, "total": posts.count(), "error": "", "step": "undoing", "preview": []}
    # Without a lease the undoing is due at once, and a process that still reads the file loses its own.
    if moves.filter(can_undo).update(status=MoveStatus.UNDOING, lease_id=None, leased_until=None, **values):
        text = f"{move.file_name}: {reason}" if reason else move.file_name
        note_for_moderators(move.community, Act.UNDONE, by=by, reason=text[:REASON_MAX])
    elif not moves.filter(status=MoveStatus.UNDOING).update(**values):
        raise ImportBusy(status=move.status)
    move.refresh_from_db()


def undo(move: Move, *, tell: Tell) -> int:
    """Remove the posts and authors of an import that `begin_undo` has begun; returns the number of posts."""
    heirs()
    total, removed = ImportedPost.objects.filter(move=move).count(), 0
    while batch := _undo_batch(move):
        removed += batch
        tell(Step("undoing", removed, max(total, removed)))
    tell_end = partial(tell, Step("undoing", removed, max(total, removed)))
    while _forget_authors(move):
        tell_end()
    announce(move, tell=tell_end)
    MovePart.objects.filter(move=move, kind=MovePart.Kind.UPLOAD).delete()
    Move.objects.filter(pk=move.pk, status=MoveStatus.UNDOING).update(
        status=MoveStatus.UNDONE, has_upload=False, finished_at=Now()
    )
    return removed


@retried
@transaction.atomic
def _undo_batch(move: Move) -> int:
    lock_source(move)
    # Replies have larger numbers than the posts that they answer.
    ids = list(ImportedPost.objects.filter(move=move).order_by("-id").values_list("message_id", flat=True)[:BATCH])
    if not ids:
        return 0
    execute(LOCK, [ids])
    posts = {post.pk: post for post in Message.objects.filter(pk__in=ids)}
    forget_names_about(Message, ids)
    removed = _removable([each for each in ids if each in posts])
    answered = [post for post in posts.values() if post.pk not in removed]
    count_answers(filter(_is_counted, posts.values()), by=-1)
    _remove(removed)
    _delete_answered(answered)
    on_pages = Counter(post.page_id for post in posts.values())
    count_on_pages({page_id: -count for page_id, count in on_pages.items()}, move=move)
    ImportedPost.objects.filter(move=move, message_id__in=ids).delete()
    invalidate(EVERYTHING)
    return len(ids)


def _is_counted(post: Message) -> bool:
    return post.status == MessageStatus.PUBLISHED and (post.parent_id is not None or post.quote_id is not None)


def _removable(ids: list[UUID]) -> set[UUID]:
    """Those of the posts, replies first, that no other post answers or quotes."""
    replies: dict[UUID, list[UUID]] = {}
    for reply_id, parent_id in fetch_all(REPLIES, [ids]):
        replies.setdefault(parent_id, []).append(reply_id)
    quoted = {quote_id for (quote_id,) in fetch_all(QUOTES, [ids, ids])}
    removable: set[UUID] = set()
    for each in ids:
        if each not in quoted and removable.issuperset(replies.get(each, ())):
            removable.add(each)
    return removable


def _remove(ids: Collection[UUID]) -> None:
    MessageVersion.objects.filter(message__in=ids).delete()
    Report.objects.filter(message__in=ids).delete()
    Reaction.objects.filter(message__in=ids).delete()
    Pin.objects.filter(message__in=ids).delete()
    HiddenHere.objects.filter(message__in=ids).delete()
    # Within the batch a post that stays may quote one that goes.
    Message.objects.filter(quote__in=ids).update(quote=None)
    # What a moderator has decided stays in the log of the community.
    Decision.objects.filter(message__in=ids).update(message=None)
    execute(DELETE_POSTS, [list(ids)])


def _delete_answered(posts: list[Message]) -> None:
    ids = [post.pk for post in posts]
    MessageVersion.objects.filter(message__in=ids).delete()
    Report.objects.filter(message__in=ids).delete()
    Reaction.objects.filter(message__in=ids).delete()
    for kind, heir_id in HEIR_IDS.items():
        Message.objects.filter(pk__in=[post.pk for post in posts if post.author_kind == kind]).update(
            **DELETED,
            author_id=heir_id,
            imported_score=None,
            reaction_counts={},
            reaction_total=0,
            updated_at=database_now(),
        )


@retried
@transaction.atomic
def _forget_authors(move: Move) -> int:
    """A batch of the authors of whom no post is left, with their accounts, unless a person has claimed them.

    Also those of undone imports: this one may have had their last posts.
    """
    lock_source(move)
    undone = Q(community=move.community_id, format=move.format, move__status__in=UNDO_STATES)
    of_account = {"author": OuterRef("account")}
    unused = ImportedAuthor.objects.filter(
        ~Exists(Message.objects.filter(**of_account)),
        ~Exists(Reaction.objects.filter(account=OuterRef("account"))),
        undone,
        claimed_at=None,
    )
    authors = list(unused.select_related("account").order_by("pk")[:BATCH])
    claimed = ImportedAuthor.objects.filter(move=move, claimed_at__isnull=False)
    # Those of erased people stay, so that a later import does not bring back what they were called.
    claimed = claimed.exclude(account__in=HEIR_IDS.values())
    ended = claimed.delete()[0]
    ImportedAuthor.objects.filter(pk__in=[author.pk for author in authors]).delete()
    HandleClaim.objects.filter(handle__in=[author.account.handle for author in authors]).delete()
    Account.objects.filter(pk__in=[author.account_id for author in authors]).delete()
    return len(authors) + ended
