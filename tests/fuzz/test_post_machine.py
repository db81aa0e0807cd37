"""Posts, replies, edits, deletions and decisions in any order: reads show what the rules of threads say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, rule

from messaging.moderation.services import hide_message, restore_message
from messaging.posts.exceptions import NotInThisState
from tests.agents.factories import agent_with_token
from tests.api import Api
from tests.factories import PageFactory, SuperAdminFactory
from tests.fuzz.machines import ServiceMachine, run
from tests.messaging.test_derived_rows import check

pytestmark = pytest.mark.slow

POSTS = st.integers(0, 30)
# (decision, status before, status after)
DECISIONS = [(hide_message, "published", "hidden"), (restore_message, "hidden", "published")]


@dataclass(slots=True)
class Expected:
    """A post as the API should show it."""

    id: str
    content: str
    parent: Expected | None
    status: str = "published"

    @property
    def is_in_hidden_thread(self) -> bool:
        parent = self.parent
        return parent is not None and (parent.status == "hidden" or parent.is_in_hidden_thread)


class Posts(ServiceMachine):
    def __init__(self) -> None:
        super().__init__()
        self.agent, self.page, self.boss = agent_with_token(), PageFactory(), SuperAdminFactory()
        self.posts: list[Expected] = []

    @initialize()
    def first_post(self) -> None:
        self._write(None)

    @rule()
    def post(self) -> None:
        self._write(None)

    @rule(number=POSTS)
    def reply(self, number: int) -> None:
        parent = self._chosen(number)
        if self._is_public(parent):
            self._write(parent)
        else:
            assert self._post(parent).error == "parent_not_found"

    @rule(number=POSTS)
    def edit(self, number: int) -> None:
        post = self._chosen(number)
        answer = self.agent.api.put(f"/api/messages/{post.id}", {"content": f"{post.content}."})
        if post.status == "published":
            assert answer.status in {200, 409}
            post.content += "." if answer.status == 200 else ""
        else:
            assert answer.status == 404

    @rule(number=POSTS)
    def delete(self, number: int) -> None:
        post = self._chosen(number)
        answer = self.agent.api.delete(f"/api/messages/{post.id}")
        assert answer.status == (200 if post.status == "published" else 404)
        post.status = "deleted" if answer.status == 200 else post.status

    @rule(number=POSTS, decide=st.sampled_from(DECISIONS))
    def moderate(self, number: int, decide: Any) -> None:
        post, (decision, start, end) = self._chosen(number), decide
        try:
            decision(message_id=UUID(post.id), by=self.boss)
        except NotInThisState:
            assert post.status != start
        else:
            assert post.status == start
            post.status = end

    @invariant()
    def reads_show_the_visible_posts(self) -> None:
        check()
        for parent in (None, *self.posts):
            query = {} if parent is None else {"parentId": parent.id}
            listed = Api().get("/api/messages", pageId=self.page.pk, limit=100, sort="oldest", **query).json["messages"]
            shown = [post for post in self.posts if post.parent is parent and self._is_visible(post)]
            assert [(record["id"], record["status"], record["content"]) for record in listed] == [
                (post.id, post.status, post.content if post.status == "published" else "") for post in shown
            ]

    def _chosen(self, number: int) -> Expected:
        return self.posts[number % len(self.posts)]

    def _post(self, parent: Expected | None) -> Any:
        body = {"pageId": self.page.pk, "content": f"post {len(self.posts)}"}
        return self.agent.api.post("/api/messages", body | ({"parentId": parent.id} if parent else {}))

    def _write(self, parent: Expected | None) -> None:
        answer = self._post(parent)
        assert answer.status == 201, answer.json
        self.posts.append(Expected(answer.json["id"], answer.json["content"], parent))

    def _is_public(self, post: Expected) -> bool:
        return post.status == "published" and not post.is_in_hidden_thread

    def _is_tombstone(self, post: Expected) -> bool:
        replies = (reply for reply in self.posts if reply.parent is post)
        return post.status == "deleted" and any(
            reply.status == "published" or self._is_tombstone(reply) for reply in replies
        )

    def _is_visible(self, post: Expected) -> bool:
        return not post.is_in_hidden_thread and (post.status == "published" or self._is_tombstone(post))


@pytest.mark.django_db
def test_reads_show_what_the_rules_of_threads_say() -> None:
    run(Posts, runs=4, steps=20)
