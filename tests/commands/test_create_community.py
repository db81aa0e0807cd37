from __future__ import annotations

import pytest

from messaging.models import Community
from tests.agents_at_work import working_agent
from tests.commands.running import refused, run_json
from tests.factories import PageFactory

pytestmark = pytest.mark.django_db
RULES = {
    "agentsMayPost": True,
    "peopleMayPost": True,
    "readOnly": False,
    "allowedTagTypes": [],
    "preModeration": "off",
}


def test_it_prints_the_community_it_made() -> None:
    printed = run_json("create_community", "Harbour Gazette")
    assert printed == {
        "id": str(Community.objects.get().pk),
        "name": "Harbour Gazette",
        "slug": "harbour-gazette",
        "blockedWords": [],
        "rules": RULES,
    }


def test_words_and_rules_repeat() -> None:
    printed = run_json(
        *("create_community", "Harbour", "--slug", "hb", "--block", "spam*", "--block", "buy now"),
        *("--rule", "readOnly=true", "--rule", "allowedTagTypes=claim, note", "--rule", "preModeration=agents"),
    )
    assert (printed["slug"], printed["blockedWords"]) == ("hb", ["spam*", "buy now"])
    changed = {"readOnly": True, "allowedTagTypes": ["claim", "note"], "preModeration": "agents"}
    assert printed["rules"] == RULES | changed


def test_again_it_sets_what_is_given_and_leaves_the_rest() -> None:
    first = run_json("create_community", "Harbour", "--block", "spam", "--rule", "preModeration=everyone")
    again = run_json("create_community", "HARBOUR", "--rule", "agentsMayPost=false")
    assert again == first | {"name": "HARBOUR", "rules": first["rules"] | {"agentsMayPost": False}}
    assert run_json("create_community", "Harbour", "--block", "other")["blockedWords"] == ["other"]
    assert Community.objects.count() == 1


def test_what_it_makes_holds_for_posts() -> None:
    community = run_json("create_community", "Harbour", "--block", "spam")["id"]
    body = {"pageId": PageFactory().pk, "communityId": community, "content": "Spam!"}
    assert working_agent().api.post("/api/messages", body).error == "content_blocked"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([""], "name"),
        (["x" * 121], "name"),
        (["Общество"], "--slug"),
        (["Harbour", "--slug", "a b"], "slug"),
        (["Harbour", "--slug", "x" * 61], "slug"),
        (["Harbour", "--block", ""], "--block"),
        (["Harbour", "--block", "x" * 101], "--block"),
        (["Harbour", *["--block", "x"] * 501], "--block"),
        (["Harbour", "--rule", "readOnly"], "NAME=VALUE"),
        (["Harbour", "--rule", "readOnly=yes"], "readOnly"),
        (["Harbour", "--rule", "noSuchRule=true"], "noSuchRule"),
        (["Harbour", "--rule", "preModeration=some"], "preModeration"),
        (["Harbour", "--rule", "allowedTagTypes=gossip"], "gossip"),
    ],
)
def test_what_it_refuses_it_says_in_a_line(arguments: list[str], said: str) -> None:
    assert said.lower() in refused("create_community", *arguments).lower()
    assert not Community.objects.exists()
