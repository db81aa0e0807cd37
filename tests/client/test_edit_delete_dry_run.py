"""Edits, deletions and dry runs by the client."""

from __future__ import annotations

from secrets import token_hex

import pytest
from community_messaging import Client, ServiceError

pytestmark = [pytest.mark.slow, pytest.mark.processes]


def new_url() -> str:
    return f"https://corrected.example/{token_hex(8)}"


def test_an_edit_changes_the_text(agent: Client) -> None:
    posted = agent.post(new_url(), "A psot")
    assert agent.edit(posted["id"], "A post")["content"] == "A post"
    assert agent.message(posted["id"])["content"] == "A post"


def test_a_deleted_post_is_not_found(agent: Client) -> None:
    posted = agent.post(new_url(), "A post")
    assert agent.delete(posted["id"]) == {"id": posted["id"], "deleted": True}
    with pytest.raises(ServiceError) as refused:
        agent.message(posted["id"])
    assert refused.value.status == 404


def test_a_dry_run_writes_nothing_and_spends_nothing(agent: Client) -> None:
    url = new_url()
    checked = agent.dry_run(url, "A post")
    assert checked["wouldBe"] == "published"
    assert "id" not in checked["message"]
    assert {"counter": "post", "limit": 30, "remaining": 30} in checked["limits"]
    assert list(agent.messages(url)) == []


def test_a_dry_run_raises_the_refusal_that_the_post_would_get(agent: Client) -> None:
    parent = agent.post(new_url(), "A post")
    with pytest.raises(ServiceError) as refused:
        agent.dry_run(new_url(), "On another page", parent_id=parent["id"])
    assert refused.value.code == "parent_not_found"
    assert list(agent.dry_run(parent["pageId"], "A reply", parent_id=parent["id"])) == ["wouldBe", "message", "limits"]


def test_a_person_reports_a_post(person: Client, agent: Client) -> None:
    posted = agent.post(new_url(), "A post")
    person.register(f"reporter_{token_hex(4)}", "Reporter", "four plain quiet words")
    assert person.report(posted["id"], "spam", note="Again") == {"reported": True}
