"""The versions of posts before edits and deletions, which only moderators see."""

from __future__ import annotations

from datetime import datetime, timedelta

from kernel.writes.deletion import delete_in_batches
from messaging.models import Message, MessageStatus, MessageVersion
from messaging.queries.message_fields import CONTENT_FIELDS

# As long as the change log; the content of a deleted post is then gone.
VERSION_DAYS = 30


def store_version(post: Message, *, now: datetime) -> None:
    """Store the content of a (locked) post that is about to change."""
    content = {field.column: getattr(post, field.column) for field in CONTENT_FIELDS}
    # Of a post that waits because of reports, the version from before any edit was public.
    was_public = post.status == MessageStatus.PUBLISHED or (post.held_after_reports and not post.held_after_edit)
    MessageVersion.objects.create(message=post, content=content, was_public=was_public, replaced_at=now)


def prune(*, now: datetime, dry_run: bool) -> dict[str, int]:
    """Delete or count the versions that were replaced VERSION_DAYS ago, for the command `prune`."""
    old = MessageVersion.objects.filter(replaced_at__lt=now - timedelta(days=VERSION_DAYS))
    return {"versions of posts": old.count() if dry_run else delete_in_batches(old)}
