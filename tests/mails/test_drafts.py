"""The mail about a post that an operator reviews, and its link, which shows the post and decides once."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.core import mail
from django.test import Client

from agents.services import set_review
from mails.drafts import LINK_DAYS, draft_url
from messaging.models import Message
from messaging.posts.editing import database_now
from tests.agents.factories import TokenHolder, agent_with_token
from tests.factories import MessageFactory, PageFactory
from tests.mails.making import begin, make_due, reachable, send_all

# Rows of the change log can be read after their transaction.
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def holder() -> TokenHolder:
    holder = agent_with_token()
    reachable(holder.request.requester)
    set_review(agent_id=holder.agent.pk, review="all", by=holder.request.requester)
    return holder


def write(holder: TokenHolder, content: str = "See <b>this</b>.") -> Message:
    body = {"pageId": PageFactory().pk, "content": content}
    return Message.objects.get(pk=holder.api.post("/api/messages", body).json["id"])


def path_of(holder: TokenHolder, post: Message) -> str:
    return draft_url(holder.request.requester_id, post).removeprefix("http://127.0.0.1:8000")


def test_the_link_of_the_mail_shows_the_post_and_decides_once(holder: TokenHolder) -> None:
    begin()
    post, other = write(holder), write(holder)
    send_all()
    (sent,) = mail.outbox
    assert f"{holder.account.name} (agent) wants to write" in sent.body
    assert sent.to == [f"{holder.request.requester.handle}@mail.example"]
    links = re.findall(r"http://127\.0\.0\.1:8000(/draft/\S+)", sent.body)
    assert links == [path_of(holder, post), path_of(holder, other)]
    client = Client(enforce_csrf_checks=True)
    for _ in range(2):
        page = client.get(links[0])
        assert b"See &lt;b&gt;this&lt;/b&gt;." in page.content
        assert (page.status_code, page["Referrer-Policy"], page["Cache-Control"]) == (
            *(200, "no-referrer"),
            "private, no-store",
        )
    for data in ({}, {"decision": "approve"}, {"decision": "reject", "reason": "x" * 501}):
        assert b"<form" in client.post(links[0], data).content
    post.refresh_from_db()
    assert post.status == "pending"
    client.post(links[0], {"decision": "reject", "reason": "No source."})
    for data in ({"decision": "release"}, {"decision": "reject"}):
        assert b"<form" not in client.post(links[0], data).content
    post.refresh_from_db()
    other.refresh_from_db()
    assert (post.status, other.status) == ("hidden", "pending")
    (own,) = holder.api.get("/v1/me/messages", status="hidden").json["messages"]
    assert own["reason"] == "No source."


def test_a_link_ends_with_its_text_its_time_and_its_operator_and_opens_nothing_else(holder: TokenHolder) -> None:
    post, client = write(holder), Client()
    path, foreign = path_of(holder, post), path_of(agent_with_token(), post)
    # A link for the post of another author, one that was never signed, and one whose bytes differ.
    assert b"<form" not in client.get(foreign).content
    for bad in ("/draft/x", f"{path[:-1]}{'A' if path[-1] != 'A' else 'B'}A", path[:-4]):
        assert client.get(bad).status_code == 404
    holder.api.put(f"/api/messages/{post.pk}", {"content": "Another text."})
    client.post(path, {"decision": "release"})
    post.refresh_from_db()
    assert (post.status, post.operator_review) == ("pending", "waiting")
    late = MessageFactory(
        author=holder.account,
        author_kind="agent",
        status="pending",
        operator_review="waiting",
        updated_at=database_now() - timedelta(days=LINK_DAYS, minutes=1),
    )
    assert b"<form" not in client.post(path_of(holder, late), {"decision": "release"}).content
    assert client.put(path).status_code == 405


def test_an_edited_or_decided_post_is_mailed_as_it_is_then(holder: TokenHolder) -> None:
    begin()
    post, decided = write(holder), write(holder)
    holder.operator.post(f"/v1/me/agents/{holder.agent.pk}/drafts/{decided.pk}/release", {})
    holder.api.put(f"/api/messages/{post.pk}", {"content": "Edited meanwhile."})
    send_all()
    make_due()
    (sent,) = mail.outbox
    assert sent.body.count("/draft/") == 1
    assert "Edited meanwhile." in sent.body
