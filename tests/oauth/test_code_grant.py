"""OAuth 2.1 for MCP clients: from the bare address to a tool call, less than an agent's rights, and revocation."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import pytest
from django.conf import settings
from django.test import Client

from agents.services import freeze_agent, request_agent, revoke_token
from oauth import code_grants
from tests.agents.factories import agent_with_token
from tests.api import Api
from tests.factories import PersonFactory, SuperAdminFactory
from tests.oauth.consents import LISTENING, UNKNOWN, Consent, call_tool, page_of, register, returned, send

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("oauth")]


@pytest.fixture
def consent() -> Consent:
    return Consent()


def test_from_the_bare_address_to_a_tool_call(consent: Consent) -> None:
    refused = call_tool("whoami")
    assert refused.status_code == 401
    metadata = f"{settings.BASE_URL}/.well-known/oauth-protected-resource/mcp"
    assert f'resource_metadata="{metadata}"' in refused.headers["WWW-Authenticate"]
    for path in (urlsplit(metadata).path, "/.well-known/oauth-protected-resource"):
        assert Client().get(path).json()["resource"] == f"{settings.BASE_URL}/mcp"
    assert Client().get("/.well-known/oauth-authorization-server").json()["issuer"] == settings.BASE_URL

    first = consent.tokens()
    assert (first["expires_in"], first["account"]["handle"]) == (3600, consent.agent.account.handle)
    assert call_tool("whoami", first["access_token"]).status_code == 200
    second = consent.refresh(first["refresh_token"]).json()
    assert call_tool("whoami", second["access_token"]).status_code == 200
    send("/oauth/revoke", token=second["refresh_token"], client_id=consent.client_id)
    assert call_tool("whoami", second["access_token"]).status_code == 401
    assert consent.active() == 0


def test_without_the_setting_nothing_is_there(settings: Any) -> None:
    settings.OAUTH = False
    person = Client()
    person.force_login(PersonFactory())
    for path in ("/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-authorization-server", page_of("x")):
        assert person.get(path).status_code == 404
    assert register().status_code == 404
    assert send("/oauth/token", grant_type="refresh_token").json()["error"] == "unsupported_grant_type"
    assert "resource_metadata" not in Client().get("/v1/agent/self").headers["WWW-Authenticate"]


def test_a_program_gets_the_chosen_rights_alone(consent: Consent) -> None:
    answer = consent.tokens(scopes=["reply"])
    assert answer["scope"] == "reply"
    agent = Api.as_agent(answer["access_token"])
    assert agent.get("/v1/agent/self").json["scopes"] == ["reply"]
    refused = agent.post("/api/messages", {"url": "https://a.example", "content": "No."})
    assert (refused.status, refused.error) == (403, "agent_scope_missing:post")
    # The MCP server refuses over HTTP, at which clients ask their person for more.
    for tool, sent, needed in (
        ("react", {"postId": UNKNOWN, "emoji": "👍"}, "react"),
        ("write_post", {"url": "https://a.example", "content": "No."}, "post"),
        ("write_post", {"replyTo": UNKNOWN, "quote": UNKNOWN, "content": "No."}, "quote reply"),
    ):
        stepped = call_tool(tool, answer["access_token"], **sent)
        challenge = stepped.headers["WWW-Authenticate"]
        assert (stepped.status_code, 'error="insufficient_scope"' in challenge) == (403, True)
        assert f'scope="{needed}"' in challenge
        assert "resource_metadata=" in challenge
    assert call_tool("write_post", answer["access_token"], replyTo=UNKNOWN, content="Yes.").status_code == 200
    stepped_up = consent.decide(page_of(consent.client_id, scope="reply react"), scopes=["reply", "react"])
    more = consent.exchange(returned(stepped_up)["code"]).json()
    assert set(more["scope"].split()) == {"reply", "react"}
    listed = Api.as_person(consent.person).get("/v1/agent-tokens").json["tokens"]
    assert sorted(len(token["scopes"]) for token in listed) == [1, 2, 4]


@pytest.mark.parametrize(
    ("asked", "offered"),
    [
        ("", ["post", "reply", "quote", "react"]),
        ("reply", ["reply"]),
        ("openid react offline_access", ["react"]),
        ("admin", None),
    ],
)
def test_the_page_offers_what_the_program_asks_for(consent: Consent, asked: str, offered: list[str] | None) -> None:
    page = consent.browser.get(page_of(consent.client_id, scope=asked))
    if offered is None:
        assert returned(page)["error"] == "invalid_scope"
    else:
        assert [value for value, _label in page.context["form"].fields["scopes"].choices] == offered


def test_an_agent_gives_no_right_that_it_lacks() -> None:
    consent = Consent(scopes=["reply"])
    page = consent.decide(scopes=["post"])
    assert (page.status_code, bool(page.context["form"].errors["agent"])) == (200, True)
    assert consent.tokens(scopes=["post", "reply"])["scope"] == "reply"


def test_who_has_no_agent_asks_for_one_at_consent(consent: Consent) -> None:
    person, browser = PersonFactory(), Client()
    browser.force_login(person)
    purpose = "Answers questions about our books."
    request_agent(requester=person, agent_name="Books", agent_handle="books_42", purpose=purpose, scopes=["post"])
    page = browser.get(page_of(consent.client_id)).content.decode()
    assert "/account/agents/request/" in page
    assert "@books_42" in page
    assert 'value="confirm"' not in page


def test_a_program_holds_none_of_the_five_tokens_and_replaces_none(consent: Consent) -> None:
    access = consent.tokens()["access_token"]
    person = Api.as_person(consent.person)
    token = Api.as_agent(access).get("/v1/agent/self").json["token"]["id"]
    assert person.post(f"/v1/agent-tokens/{token}/rotate", {}).error == "token_not_found"
    for _ in range(4):
        assert person.post(f"/v1/agent-tokens/requests/{consent.agent.request.pk}/token", {}).status == 201
    assert person.post(f"/v1/agent-tokens/requests/{consent.agent.request.pk}/token", {}).status == 409
    assert consent.exchange(consent.code()).status_code == 200


@pytest.mark.parametrize("end", ["the token", "the agent", "the operator"])
def test_what_ends_a_token_ends_its_program(consent: Consent, end: str) -> None:
    answer = consent.tokens()
    if end == "the token":
        token = consent.agent.tokens.exclude(scopes=None).get()
        revoke_token(token_id=token.pk, by=consent.person)
    elif end == "the agent":
        freeze_agent(agent=consent.agent, by=SuperAdminFactory(), reason="Trying.")
    else:
        consent.agent.operator = PersonFactory()
        consent.agent.save(update_fields=["operator"])
    assert consent.refresh(answer["refresh_token"]).json()["error"] == "invalid_grant"


def test_a_person_revokes_a_program_by_the_api_and_on_its_page(consent: Consent) -> None:
    for by_page in (False, True):
        waiting, first, second = consent.code(), consent.tokens(scopes=["reply"]), consent.tokens()
        person = Api.as_person(consent.person)
        (program,) = person.get("/v1/me/programs").json["programs"]
        assert (program["name"], program["clientId"]) == ("Editor", consent.client_id)
        assert [each["scopes"] for each in program["consents"]] == [consent.agent.scopes, ["reply"]]
        assert {each["redirectUri"] for each in program["consents"]} == {LISTENING}
        path = f"/v1/me/programs/{program['id']}"
        stranger = Api.as_person(PersonFactory())
        assert stranger.get("/v1/me/programs").json == {"programs": []}
        assert stranger.delete(path).error == "program_not_found"
        if by_page:
            assert "Editor" in consent.browser.get("/account/programs/").content.decode()
            page = f"/account/programs/{program['id']}/revoke/"
            assert "Editor" in consent.browser.get(page).content.decode()
            assert consent.browser.post(page).status_code == 302
        else:
            assert person.delete(path).json == {"id": program["id"], "revoked": True}
        assert person.delete(path).error == "program_not_found"
        assert person.get("/v1/me/programs").json == {"programs": []}
        assert consent.active() == 0
        assert consent.exchange(waiting).status_code == 400
        for answer in (first, second):
            assert call_tool("whoami", answer["access_token"]).status_code == 401
            assert consent.refresh(answer["refresh_token"]).status_code == 400


def test_the_list_of_programs_takes_one_number_of_queries(consent: Consent, django_assert_max_num_queries: Any) -> None:
    for _ in range(4):
        consent.tokens(agent=str(agent_with_token(requester=consent.person).agent.pk))
        consent.client_id = register().json()["client_id"]
    with django_assert_max_num_queries(1):
        assert len(code_grants.programs_of(consent.person)) == 4
