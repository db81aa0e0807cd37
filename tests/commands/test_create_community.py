from __future__ import annotations

import pytest
from django.core.management import load_command_class

from messaging.models import Community
from tests.agents.factories import agent_with_token
from tests.commands.running import refused, run_json
from tests.factories import PageFactory

pytestmark = pytest.mark.django_db
RULES = {
    "agentsMayPost": True,
    "peopleMayPost": True,
    "readOnly": False,
    "allowedTagTypes": [],
    "preModeration": "off",
    "reportsToHide": 0,
    "embedding": "open",
    "closeAfterDays": 0,
}


def test_create_community_prints_the_community() -> None:
    printed = run_json("create_community", "Harbour Gazette")
    assert printed == {
        "id": str(Community.objects.get().pk),
        "name": "Harbour Gazette",
        "slug": "harbour-gazette",
        "blockedWords": [],
        "rules": RULES,
    }


def test_block_and_rule_options_may_be_repeated() -> None:
    printed = run_json(
        *("create_community", "Harbour", "--slug", "hb", "--block", "spam*", "--block", "buy now"),
        *("--rule", "readOnly=true", "--rule", "allowedTagTypes=claim, note", "--rule", "preModeration=agents"),
        *("--rule", "reportsToHide=3"),
    )
    assert (printed["slug"], printed["blockedWords"]) == ("hb", ["spam*", "buy now"])
    changed = {"readOnly": True, "allowedTagTypes": ["claim", "note"], "preModeration": "agents", "reportsToHide": 3}
    assert printed["rules"] == RULES | changed


def test_a_second_run_changes_only_the_given_options() -> None:
    first = run_json("create_community", "Harbour", "--block", "spam", "--rule", "preModeration=everyone")
    again = run_json("create_community", "HARBOUR", "--rule", "agentsMayPost=false")
    assert again == first | {"name": "HARBOUR", "rules": first["rules"] | {"agentsMayPost": False}}
    assert run_json("create_community", "Harbour", "--block", "other")["blockedWords"] == ["other"]
    assert Community.objects.count() == 1


def test_slugs_of_different_names_differ_and_an_accented_name_needs_no_digest() -> None:
    for names in (("Общество", "社区"), ("社区 2", "同人 2"), ("x" * 119 + "a", "x" * 119 + "b")):
        created = [run_json("create_community", name) for name in names]
        assert [community["name"] for community in created] == list(names)
        assert run_json("create_community", names[0]) == created[0]
    assert Community.objects.count() == 6
    assert run_json("create_community", "Café Zürich")["slug"] == "cafe-zurich"


def test_a_repeated_rule_extends_a_list_and_is_refused_for_a_flag() -> None:
    rules = ("--rule", "allowedTagTypes=claim", "--rule", "allowedTagTypes=note")
    assert run_json("create_community", "Harbour", *rules)["rules"]["allowedTagTypes"] == ["claim", "note"]
    assert "readOnly" in refused("create_community", "Harbour", "--rule", "readOnly=true", "--rule", "readOnly=false")
    cleared = run_json("create_community", "Harbour", "--rule", "allowedTagTypes=")
    assert cleared["rules"]["allowedTagTypes"] == []
    usage = " ".join(load_command_class("messaging", "create_community").create_parser("", "").format_help().split())
    assert "A list (allowedTagTypes) has commas between its values" in usage


def test_blocked_words_of_the_command_apply_to_posts() -> None:
    community = run_json("create_community", "Harbour", "--block", "spam")["id"]
    body = {"pageId": PageFactory().pk, "communityId": community, "content": "Spam!"}
    assert agent_with_token().api.post("/api/messages", body).error == "content_blocked"


def test_invalid_arguments_are_refused_in_one_line() -> None:
    for message, *arguments in (
        ("name", ""),
        ("name", "x" * 121),
        ("--slug", "!!!"),
        ("slug", "Harbour", "--slug", "a b"),
        ("slug", "Harbour", "--slug", "x" * 61),
        ("--block", "Harbour", "--block", ""),
        ("--block", "Harbour", "--block", "x" * 101),
        ("--block", "Harbour", *["--block", "x"] * 501),
        ("name=value", "Harbour", "--rule", "readOnly"),
        ("readonly", "Harbour", "--rule", "readOnly=yes"),
        ("nosuchrule", "Harbour", "--rule", "noSuchRule=true"),
        ("premoderation", "Harbour", "--rule", "preModeration=some"),
        ("gossip", "Harbour", "--rule", "allowedTagTypes=gossip"),
    ):
        assert message in refused("create_community", *arguments).lower()
    assert not Community.objects.exists()
