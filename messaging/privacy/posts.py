"""Erases an author from posts, which stay or are deleted as by their author."""

from __future__ import annotations

from django.db.models import Case, Value, When

from kernel.admin.audit import forget_entries_about
from kernel.cache.versions import EVERYTHING, invalidate
from kernel.changes.log import append
from kernel.database.sql import allow_long_statements, database_now, execute
from kernel.personal_data import Subject
from messaging.changes.recording import deletion_of
from messaging.models import Decision, Message, MessageStatus, MessageVersion
from messaging.moderation.reporting import close_reports, move_closing
from messaging.posts.message_fields import CONTENT_FIELDS
from messaging.posts.rights import LONG_STATEMENT_SECONDS, locked_posts
from messaging.posts.services import count_answers

BATCH = 200
NO_CONTENT = {field.column: field.model_field.get_default() for field in CONTENT_FIELDS}
# Posts that the widgets of a community leave out by a ban of the account, or of the operator of an agent.
KEEP_OUT = """
INSERT INTO messaging_hiddenhere (id, community_id, message_id, created_at)
SELECT gen_random_uuid(), ban.community_id, post.id, clock_timestamp()
FROM messaging_message post
JOIN messaging_ban ban ON ban.account_id IN (post.author_id, %(person)s) AND ban.created_at < post.created_at
WHERE post.id = ANY(%(ids)s::uuid[]) AND post.community_id IS DISTINCT FROM ban.community_id
ON CONFLICT (community_id, message_id) DO NOTHING
"""
HIDDEN = MessageStatus.HIDDEN
# A hidden post stays hidden, and its thread with it: it is deleted when it is restored.
DELETED = {
    **NO_CONTENT,
    "status": Case(When(status=HIDDEN, then=Value(HIDDEN)), default=Value(MessageStatus.DELETED)),
    "status_before_hiding": Case(When(status=HIDDEN, then=Value(MessageStatus.DELETED)), default=None),
    "held_after_edit": False,
    "held_after_reports": False,
    "operator_review": None,
    "edited_at": None,
}


def erase(subject: Subject) -> int:
    """A batch of posts. They belong to an heir afterwards, so that the next batch begins after them."""
    ids = list(
        Message.objects.filter(author__in=subject.account_ids).order_by("id").values_list("pk", flat=True)[:BATCH]
    )
    posts = locked_posts(ids, Message.objects.all())
    MessageVersion.objects.filter(message__in=ids).delete()
    # Here, while the posts are known to be of the person.
    Decision.objects.filter(message__in=ids).exclude(reason="").update(reason="")
    forget_entries_about(Message, ids)
    now = database_now()
    if not subject.delete_posts:
        # The reports of a deleted post stay closed.
        move_closing(ids, to=now)
        # The bans end with the accounts, and the posts stay.
        execute(KEEP_OUT, {"ids": ids, "person": subject.person_id})
    for kind, heir_id in subject.heirs.items():
        of_kind = [post.pk for post in posts if post.author_kind == kind]
        Message.objects.filter(pk__in=of_kind).update(author_id=heir_id, updated_at=now)
    if subject.delete_posts:
        _delete(posts)
    if posts:
        invalidate(EVERYTHING)
    return len(posts)


def _delete(posts: list[Message]) -> None:
    """Also those that are hidden or deleted already: their content and source may still be stored."""
    allow_long_statements(LONG_STATEMENT_SECONDS)
    Message.objects.filter(pk__in=[post.pk for post in posts]).update(**DELETED)
    close_reports([post.pk for post in posts], at=database_now())
    count_answers((post for post in posts if post.status == MessageStatus.PUBLISHED), by=-1)
    append([deletion_of(post) for post in posts if post.was_public])
