"""Each operation locks the posts that it needs in the order of their ids, and then the counts of pages and communities.

So two operations do not wait for each other. Exceptions, after which a write is run again: marks of threads (decision
30), and counts of several pages (decision 28).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from django.db import connection, transaction

from messaging.models import Account, Community, CommunityCount, Message, Page, PageCommunityCount, PageCount
from messaging.moderation.reporting import dismiss_reports, reopen_reports
from messaging.moderation.services import (
    approve_message,
    hide_message,
    restore_message,
    return_to_review,
    undo_hiding,
    undo_restoring,
)
from messaging.pages.moving import move_page
from moving.imports.undoing import begin_undo, undo
from moving.models import Move
from moving.own_format import FORMAT, VERSION
from tests.api import Answer, Api
from tests.factories import CommunityFactory, MessageFactory, PersonFactory, SuperAdminFactory
from tests.hiding import hide_posts_of, restore_posts_of
from tests.moving.imports.importing import import_posts
from tests.sessions import another_waits, in_background
from tests.waiting import eventually

pytestmark = pytest.mark.django_db(transaction=True)
# The page has an id of earlier rules.
OLD_PAGE = f"p1_{'a' * 32}"
SLOTS = range(16)
# Of a scene.
POSTS = 4
LOCK = "SELECT FROM messaging_message WHERE id = %s FOR NO KEY UPDATE"
# Rows that no other transaction has locked.
FREE = {
    "posts": "SELECT FROM messaging_message WHERE id > %s FOR NO KEY UPDATE SKIP LOCKED",
    "counts of pages": "SELECT FROM messaging_pagecount WHERE %s IS NOT NULL FOR UPDATE SKIP LOCKED",
    "counts of communities": "SELECT FROM messaging_communitycount WHERE %s IS NOT NULL FOR UPDATE SKIP LOCKED",
    "counts of both": "SELECT FROM messaging_pagecommunitycount WHERE %s IS NOT NULL FOR UPDATE SKIP LOCKED",
}


@dataclass
class Scene:
    """A page with two imported posts, and two replies to the first one that quote the second."""

    community: Community
    folder: Path
    replies: list[Message]
    boss: Account

    @property
    def reply(self) -> Message:
        return self.replies[0]

    @property
    def decision(self) -> dict[str, Any]:
        return {"message_id": self.reply.pk, "by": self.boss}

    def as_author(self) -> Api:
        return Api.as_person(self.reply.author)

    def set(self, **columns: Any) -> None:
        Community.objects.filter(pk=self.community.pk).update(**columns)


def make_scene(folder: Path) -> Scene:
    community = CommunityFactory()
    import_lines(folder, community, [post("low", day=1), post("high", day=2)])
    low, high = Message.objects.filter(community=community).order_by("id")
    author = PersonFactory()
    replies = [MessageFactory(parent=low, quote=high, author=author, community=community) for _ in range(2)]
    for slot in SLOTS:
        PageCount.objects.get_or_create(page_id=low.page_id, slot=slot, defaults={"posts": 0, "replies": 0})
        CommunityCount.objects.get_or_create(community_id=community.pk, slot=slot, defaults={"posts": 0, "replies": 0})
        both = {"page_id": low.page_id, "community_id": community.pk}
        PageCommunityCount.objects.get_or_create(**both, slot=slot, defaults={"posts": 0, "replies": 0})
    return Scene(community, folder, replies, SuperAdminFactory())


def import_lines(folder: Path, community: Community, lines: list[dict[str, Any]]) -> None:
    framed = [{"type": "header", "format": FORMAT, "version": VERSION}, *lines, {"type": "end"}]
    file = folder / f"{len(lines)} posts of {community.pk}.jsonl"
    file.write_text("".join(f"{json.dumps(each)}\n" for each in framed))
    import_posts("jsonl", file, community, file.with_suffix(".csv"))


def post(name: str, *, day: int, **values: str) -> dict[str, Any]:
    author = {"id": "writer", "name": "A Writer", "kind": "human"}
    page = {"createdAt": f"2020-01-{day:02}T00:00:00Z", "pageUrl": "https://example.com/a"}
    return {"type": "post", "id": name, "status": "published", "author": author, "content": name} | page | values


def answer_in_reverse(scene: Scene) -> Callable[[], Answer]:
    """Its parent is younger than the post that it quotes."""
    reply = scene.reply
    body = {
        "pageId": reply.page_id,
        "content": "Both",
        "parentId": str(reply.quote_id),
        "quoteId": str(reply.parent_id),
    }
    return lambda: scene.as_author().post("/api/messages", body)


def edit(scene: Scene) -> Callable[[], Answer]:
    """It is held for approval."""
    scene.set(pre_moderation="everyone")
    return lambda: scene.as_author().put(f"/api/messages/{scene.reply.pk}", {"content": "Edited"})


def delete(scene: Scene) -> Callable[[], Answer]:
    return lambda: scene.as_author().delete(f"/api/messages/{scene.reply.pk}")


def report(scene: Scene) -> Callable[[], Answer]:
    """The post is held for review."""
    scene.set(reports_to_hide=1)
    reader = Api.as_person(PersonFactory())
    return lambda: reader.post(f"/api/messages/{scene.reply.pk}/report", {"reason": "spam"})


def dismiss(scene: Scene) -> Callable[[], Any]:
    reader = Api.as_person(PersonFactory())
    assert reader.post(f"/api/messages/{scene.reply.pk}/report", {"reason": "spam"}).status < 300
    return lambda: dismiss_reports(**scene.decision)


def reopen(scene: Scene) -> Callable[[], Any]:
    dismiss(scene)()
    return lambda: reopen_reports(**scene.decision)


def approve(scene: Scene) -> Callable[[], Any]:
    return_to_review(**scene.decision)
    return lambda: approve_message(**scene.decision)


def undo_approving(scene: Scene) -> Callable[[], Any]:
    return lambda: return_to_review(**scene.decision)


def hide(scene: Scene) -> Callable[[], Any]:
    return lambda: hide_message(**scene.decision)


def restore(scene: Scene) -> Callable[[], Any]:
    hide_message(**scene.decision)
    return lambda: restore_message(**scene.decision)


def undo_hide(scene: Scene) -> Callable[[], Any]:
    hide_message(**scene.decision)
    return lambda: undo_hiding(**scene.decision)


def undo_restore(scene: Scene) -> Callable[[], Any]:
    restore(scene)()
    return lambda: undo_restoring(**scene.decision)


def hide_all(scene: Scene) -> Callable[[], Any]:
    return lambda: hide_posts_of(author=scene.reply.author, by=scene.boss)


def restore_all(scene: Scene) -> Callable[[], Any]:
    hide_all(scene)()
    return lambda: restore_posts_of(author=scene.reply.author, by=scene.boss)


def renormalize(scene: Scene) -> Callable[[], Any]:
    old = Page.objects.create(id=OLD_PAGE, normalized_url="https://example.com/a?PHPSESSID=1")
    Message.objects.filter(community=scene.community).update(page=old)
    return lambda: move_page(old)


def import_replies(scene: Scene) -> Callable[[], Any]:
    """They answer and quote earlier posts, in the reverse order of these."""
    lines = [
        *(post("low", day=1), post("high", day=2)),
        *(post("a", day=3, parentId="high", quoteId="low"), post("b", day=4, parentId="low", quoteId="a")),
    ]
    return lambda: import_lines(scene.folder, scene.community, lines)


def undo_import(scene: Scene) -> Callable[[], Any]:
    import_replies(scene)()
    move = Move.objects.filter(community=scene.community).latest("created_at")
    begin_undo(move, by=scene.boss)
    return lambda: undo(move, tell=lambda _step: None)


OPERATIONS = [
    *(answer_in_reverse, edit, delete, report, dismiss, reopen, approve, undo_approving, hide, restore),
    *(undo_hide, undo_restore, hide_all, restore_all, renormalize, import_replies, undo_import),
]


@pytest.mark.parametrize("prepare", OPERATIONS, ids=lambda prepare: prepare.__name__)
def test_an_operation_that_waits_for_a_post_has_locked_no_later_row(
    prepare: Callable[[Scene], Callable[[], Any]], tmp_path: Path
) -> None:
    waited = [waits_without_later_locks(prepare, place, tmp_path) for place in range(POSTS)]
    assert sum(waited) >= 2


def waits_without_later_locks(prepare: Callable[[Scene], Callable[[], Any]], place: int, folder: Path) -> bool:
    """Whether an operation waits for this post of a new scene. If it does, it must have locked no later row."""
    scene = make_scene(folder)
    work = prepare(scene)
    ids = list(Message.objects.filter(community=scene.community).order_by("id").values_list("id", flat=True))
    with ThreadPoolExecutor(1) as pool, connection.cursor() as cursor:
        with transaction.atomic():
            cursor.execute(LOCK, [ids[place]])
            working = in_background(pool, work)
            assert eventually(lambda: working.done() or another_waits())
            waits = not working.done()
            if waits:
                assert free_rows(cursor, ids[place]) == all_rows(ids[place])
        returned = working.result()
    assert not isinstance(returned, Answer) or returned.status < 300
    return waits


def free_rows(cursor: Any, held: Any) -> dict[str, int]:
    found = {}
    for name, statement in FREE.items():
        cursor.execute(statement, [held])
        found[name] = cursor.rowcount
    return found


def all_rows(held: Any) -> dict[str, int]:
    return {
        "posts": Message.objects.filter(pk__gt=held).count(),
        "counts of pages": PageCount.objects.count(),
        "counts of communities": CommunityCount.objects.count(),
        "counts of both": PageCommunityCount.objects.count(),
    }


def test_an_imported_reply_to_a_post_that_is_hidden_meanwhile_is_hidden_with_it(tmp_path: Path) -> None:
    scene = make_scene(tmp_path)
    work, parent_id = import_replies(scene), scene.reply.parent_id
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            hide_message(message_id=parent_id, by=scene.boss)
            working = in_background(pool, work)
            assert eventually(another_waits)
        working.result()
    replies = Message.objects.filter(parent=parent_id)
    assert list(replies.values_list("in_hidden_thread", flat=True)) == [True] * 3
