"""Names have a visible character, and none that is invisible or changes the direction of text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command
from django.test import Client
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.models import AgentRequest, AgentToken
from embeds.models import Embed
from messaging.accounts.names import validate_name
from messaging.models import Account, Community
from tests.admin.pages import page
from tests.agents.factories import ApprovedFactory
from tests.api import Api
from tests.embeds.making import INSTANCES, an_embed
from tests.factories import CommunityFactory, PersonFactory, SuperAdminFactory
from tests.fuzz.names import GOOD, REFUSED, is_clean

REQUESTS = "/v1/agent-tokens/requests"


def is_valid(name: str) -> bool:
    try:
        validate_name(name)
    except ValidationError:
        return False
    return True


def test_names_in_any_script_are_valid_and_invisible_and_bidi_characters_are_refused() -> None:
    assert [name for name in GOOD if not is_valid(name)] == []
    assert [name for name in REFUSED if is_valid(name)] == []


@settings(max_examples=150, deadline=None)
@given(st.text(st.characters() | st.sampled_from("👩🚀❤1\u200d\ufe0f\u200cकی्\U000e0067🏴"), max_size=8))
def test_valid_names_contain_no_refused_character(name: str) -> None:
    assert is_clean(name) or not is_valid(name)


def _register(name: str) -> Any:
    sent = {"handle": "new_person", "name": name, "password": "correct horse battery"}
    return Api().post("/api/auth/register", sent)


def _ask(name: str) -> Any:
    sent = {"agentName": name, "agentHandle": "helper", "purpose": "Takes part in a test.", "scopes": ["post"]}
    return Api.as_person(PersonFactory()).post(REQUESTS, sent)


def _token(label: str) -> Any:
    request = ApprovedFactory()
    return Api.as_person(request.requester).post(f"{REQUESTS}/{request.pk}/token", {"label": label})


def _embed(name: str) -> Any:
    sent = {"name": name, "communityId": str(CommunityFactory().pk)}
    return Api.as_signed_in(PersonFactory()).post(INSTANCES, sent)


def _rename(name: str) -> Any:
    embed = an_embed()
    return Api.as_signed_in(embed.owner).put(f"{INSTANCES}/{embed.pk}", {"name": name})


ENTRIES = {"register": _register, "requestAgent": _ask, "createAgentToken": _token, "create": _embed, "update": _rename}
FIELDS = {"requestAgent": "agentName", "createAgentToken": "label"}


def stored_names() -> set[str]:
    models: tuple[tuple[Any, str], ...] = (
        *((Account, "name"), (AgentRequest, "agent_name"), (AgentToken, "label"), (Embed, "name")),
        (Community, "name"),
    )
    return {name for model, column in models for name in model.objects.values_list(column, flat=True)}


INVALID = ["evil\u202ename", "two\nlines", "Ann\u2028", "\u3164\u3164", "a\u200db", "\ue000 x"]
INVALID += ["1\ufe0f\u20e3\u200d👍", "👍\u200d1\ufe0f\u20e3"]


@pytest.mark.django_db
@pytest.mark.parametrize("entry", ENTRIES)
def test_every_operation_refuses_an_invalid_name(entry: str) -> None:
    for name in INVALID:
        response = ENTRIES[entry](name)
        refused = (response.status, response.error, response.json.get("field"))
        assert refused == (400, "invalid_input", FIELDS.get(entry, "name")), ascii(name)
        assert name.strip() not in stored_names()


@pytest.mark.django_db
@pytest.mark.parametrize("entry", ENTRIES)
def test_every_operation_accepts_and_trims_a_valid_name(entry: str) -> None:
    assert ENTRIES[entry]("  Zoë \u3000 👩🏽‍🚀\u00a0می‌خواهم  ").status in {200, 201}
    assert "Zoë 👩🏽‍🚀 می‌خواهم" in stored_names()


@pytest.mark.django_db
def test_a_person_may_have_a_name_of_one_character_and_an_agent_has_two() -> None:
    assert _register("李").status == 201
    person = Account.objects.get(name="李")
    call_command("create_person", "other", "--name", "Q \u2003 X")
    assert Account.objects.get(handle="other").name == "Q X"
    client = Client()
    client.force_login(person)
    client.post("/account/me/", {"name": "훈 \u00a0 1", "language": ""})
    assert Account.objects.get(pk=person.pk).name == "훈 1"
    client.post("/account/me/", {"name": " ", "language": ""})
    assert Account.objects.get(pk=person.pk).name == "훈 1"
    for refused in (_register("  "), _ask("李")):
        assert (refused.status, refused.error) == (400, "invalid_input")


@pytest.mark.django_db
def test_the_label_of_a_token_may_be_empty() -> None:
    assert _token("").status == 201


def _by_command(command: str, *arguments: str) -> Callable[[str], str]:
    def call(name: str) -> str:
        with pytest.raises(CommandError) as refusal:
            call_command(command, *(part.format(name) for part in arguments))
        return str(refusal.value)

    return call


def _by_form(name: str) -> str:
    client = Client()
    client.force_login(SuperAdminFactory())
    sent = {"name": name, "slug": "harbour", "pre_moderation": "off", "blocked_words": ""}
    return client.post(page(Community, "add"), sent).content.decode()


@pytest.mark.django_db
@pytest.mark.parametrize(
    "entry",
    [
        _by_command("create_community", "{}", "--slug", "harbour"),
        _by_command("create_person", "ann", "--name", "{}"),
        _by_form,
    ],
    ids=["community", "person", "form"],
)
def test_the_admin_and_the_commands_refuse_invalid_names(entry: Callable[[str], str]) -> None:
    assert "A name may not contain U+202E" in entry("evil\u202ename")
    assert "A name needs a visible character" in entry("\u0301\u0301")
    assert not Community.objects.exists()
    assert not Account.objects.filter(handle="ann").exists()


@pytest.mark.django_db
def test_invalid_names_of_an_earlier_release_do_not_block_other_changes(client: Client) -> None:
    community = CommunityFactory(name="Old\u202e", slug="old")
    call_command("create_community", "Old\u202e", "--slug", "old", "--rule", "readOnly=true")
    client.force_login(SuperAdminFactory())
    sent = {"name": "Old\u202e", "slug": "old", "people_may_post": "on", "pre_moderation": "off", "blocked_words": "x"}
    assert client.post(page(community), sent).status_code == 302
    community.refresh_from_db()
    assert (community.name, community.blocked_words) == ("Old\u202e", ["x"])
    person = PersonFactory()
    Account.objects.filter(pk=person.pk).update(name="Old\u202e")
    call_command("create_person", person.handle, "--staff")
    embed = an_embed(name="Old\u202e")
    assert Api.as_signed_in(embed.owner).put(f"{INSTANCES}/{embed.pk}", {"description": "New."}).status == 200
