"""Begins a job of each kind in the database of a service, and tells which of their effects are wrong.

Runs in `manage.py shell`: the process that injects the faults has no Django.
"""

from __future__ import annotations

import json
import random
import sys
import zipfile
from collections.abc import Iterator
from io import BytesIO
from typing import Any
from unittest.mock import patch

from django.db.models.functions import Now
from procrastinate.contrib.django.models import ProcrastinateJob

from kernel.jobs import queue
from messaging.models import (
    Account,
    AccountRecord,
    Archive,
    BulkJob,
    Message,
    MessageStatus,
    PersonErasure,
    PersonExport,
    PostsChoice,
)
from messaging.moderation.bulk_jobs import start_on_posts_of
from messaging.moderation.lists.running import run_soon
from messaging.privacy.exports import content_of, request_export, request_record
from moving import uploads
from moving.models import Move
from tests.factories import MessageFactory, PageFactory, PersonFactory, SuperAdminFactory
from tests.moving.imports.generating import HEAD, post_xml, thread_xml
from tests.moving.imports.importing import MAP, site

POSTS = 300
_ITEMS = "".join(post_xml(number, f"Post {number}", 0, number, None) for number in range(POSTS))
FILE = f"{HEAD}{thread_xml(0)}{_ITEMS}</disqus>".encode()


def begin() -> None:
    """Print what `tell_wrong` needs."""
    number = random.randrange(10**9)
    for factory in (SuperAdminFactory, PersonFactory, PageFactory):
        # Each process would begin with the same names.
        factory.reset_sequence(number, force=True)
    admin, author, erased, bystander = SuperAdminFactory(), PersonFactory(), PersonFactory(), PersonFactory()
    page = PageFactory()
    for account, posts in ((author, POSTS), (erased, POSTS), (bystander, 1)):
        MessageFactory.create_batch(posts, author=account, page=page)
    imported, undone = _import(f"Written {number}"), _import(f"Undone {number}", ends=True)
    request_export(person=author)
    request_record(account=author, by=admin)
    PersonErasure.objects.create(account=erased, posts=PostsChoice.DELETED, due_at=Now())
    queue.enqueue("erasures", erased.pk)
    run_soon(start_on_posts_of(author, kind=BulkJob.HIDE_POSTS, by=admin))
    uploads.start(imported)
    uploads.start_undo(undone, by=undone.started_by)
    queue.enqueue("prune")
    names = {"author": author, "erased": erased, "bystander": bystander, "imported": imported, "undone": undone}
    sys.stdout.write(json.dumps({name: str(row.pk) for name, row in names.items()}))


def _import(name: str, *, ends: bool = False) -> Any:
    """An import that was checked; written to its end if it `ends`. The worker gets no job of it."""
    owner = PersonFactory()
    file: dict[str, Any] = {"file_name": "old.xml", "size": len(FILE), "pieces": lambda: [FILE]}
    with patch("moving.uploads.enqueue"):
        move = uploads.upload(community=site(owner, name), format="disqus", map=MAP, by=owner, **file)
        queue.run(uploads.NAME, move.pk)
        if ends:
            uploads.start(Move.objects.get(pk=move.pk))
            queue.run(uploads.NAME, move.pk)
    return Move.objects.get(pk=move.pk)


def tell_wrong(**ids: str) -> None:
    """Print the names of the effects that a job has not had, or has had twice."""
    sys.stdout.write(json.dumps(sorted({name for name, is_right in _effects(ids) if not is_right})))


def _effects(ids: dict[str, str]) -> Iterator[tuple[str, bool]]:
    author = Account.objects.get(pk=ids["author"])
    archives: tuple[Archive, ...] = (
        PersonExport.objects.get(account=author),
        AccountRecord.objects.get(account=author),
    )
    for archive in archives:
        yield str(archive._meta.verbose_name), archive.status == "ready" and _is_whole(archive)
    yield "erasure", not Account.objects.filter(pk=ids["erased"]).exists() and not PersonErasure.objects.exists()
    yield "bystander", _posts(author=ids["bystander"]) == 1
    job = BulkJob.objects.get(about=author)
    counts = job.done, job.refused, job.changed_rows.values("row_id").distinct().count(), job.changed_rows.count()
    hidden = Message.objects.filter(author=author, status=MessageStatus.HIDDEN).count()
    yield "job of the desk", job.state == "finished" and (*counts, hidden) == (POSTS, 0, POSTS, POSTS, POSTS)
    for name, status, number in (("imported", "done", POSTS), ("undone", "undone", 0)):
        move = Move.objects.get(pk=ids[name])
        yield name, move.status == status and _posts(community=move.community_id) == number
    yield "failed jobs", not ProcrastinateJob.objects.exclude(status="succeeded").exists()


def _posts(**of: Any) -> int:
    return Message.objects.filter(status=MessageStatus.PUBLISHED, **of).count()


def _is_whole(archive: Archive) -> bool:
    content = b"".join(content_of(archive))
    return len(content) == archive.size and zipfile.ZipFile(BytesIO(content)).testzip() is None
