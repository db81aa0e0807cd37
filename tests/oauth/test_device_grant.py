"""The device grant from the first request of a program to its token, over the API and the page of its person."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from urllib.parse import urlencode
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from agents.models import AgentRequest, AgentToken
from agents.services import approve_request, cancel_request, freeze_agent, reject_request, revoke_token
from messaging.accounts import sessions
from messaging.models import Account
from oauth import device_grants
from oauth.models import DeviceGrant
from tests.agents.factories import agent_with_token
from tests.factories import CommunityFactory, PersonFactory, SuperAdminFactory

pytestmark = pytest.mark.django_db
PAGE = "/account/device/"
FORM = "application/x-www-form-urlencoded"
ASKED = {
    "client_name": "Library Helper",
    "handle": "library_helper",
    "purpose": "Answers questions about our books.",
    "scope": "post reply",
}


@pytest.fixture(autouse=True)
def _no_waiting(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let programs poll without the pauses that one test is about."""
    if "slow_down" not in request.node.name:
        monkeypatch.setitem(device_grants.settings.SOFT_THROTTLES, "device_poll", (10**6, 5))


@pytest.fixture
def person() -> Account:
    return PersonFactory()


@pytest.fixture
def pages(person: Account) -> Client:
    client = Client()
    client.force_login(person)
    return client


def send(path: str, **parameters: Any) -> Any:
    return Client(enforce_csrf_checks=True).post(path, urlencode(parameters, doseq=True), content_type=FORM)


def ask(**changes: Any) -> dict[str, Any]:
    response = send("/oauth/device_authorization", **(ASKED | changes))
    assert response.status_code == 200, response.content
    return dict(response.json())


def ask_for_account() -> dict[str, Any]:
    return dict(send("/oauth/device_authorization", client_name="cm", scope="account").json())


def poll(code: dict[str, Any] | str) -> Any:
    device_code = code if isinstance(code, str) else code["device_code"]
    return send("/oauth/token", grant_type=device_grants.GRANT_TYPE, device_code=device_code)


def error(response: Any) -> str:
    assert response.status_code == 400, response.content
    assert response.json()["error_description"].isascii()
    return str(response.json()["error"])


def confirm(client: Client, code: dict[str, Any], **changes: Any) -> Any:
    fields = {"user_code": code["user_code"], "submission": str(uuid4()), "decision": "confirm"}
    corrected = {
        "agent": "",
        "agent_name": ASKED["client_name"],
        "agent_handle": ASKED["handle"],
        "purpose": ASKED["purpose"],
        "scopes": ASKED["scope"].split(),
    }
    return client.post(PAGE, fields | corrected | changes)


def test_a_program_gets_its_token_after_person_and_super_admin(pages: Client, person: Account) -> None:
    code = ask()
    assert code["verification_uri_complete"] == f"{code['verification_uri']}?user_code={code['user_code']}"
    bystander = ask(handle="another_one")
    waiting = poll(code)
    assert (error(waiting), waiting.json()["waiting_for"]) == ("authorization_pending", "person")
    shown = pages.get(PAGE, {"user_code": code["user_code"].lower().replace("-", " ")}).content.decode()
    assert all(text in shown for text in (code["user_code"], ASKED["client_name"], ASKED["handle"], ASKED["purpose"]))
    assert confirm(pages, code).status_code == 302
    waiting = poll(code)
    assert (error(waiting), waiting.json()["waiting_for"]) == ("authorization_pending", "super_admin")
    request = AgentRequest.objects.get()
    assert (request.requester, request.agent_handle) == (person, ASKED["handle"])
    approve_request(request_id=request.pk, by=SuperAdminFactory(), scopes=["reply"])
    answer = poll(code)
    assert answer["Cache-Control"] == "no-store"
    token = answer.json()
    assert (token["token_type"], token["scope"], token["account"]["handle"]) == ("Bearer", "reply", ASKED["handle"])
    me = Client().get("/v1/agent/self", headers={"Authorization": f"Bearer {token['access_token']}"})
    assert me.json()["account"]["handle"] == ASKED["handle"]
    assert error(poll(bystander)) == "authorization_pending"
    assert AgentToken.objects.get().label == ASKED["client_name"]


def test_the_person_corrects_what_is_asked_for(pages: Client) -> None:
    community = CommunityFactory()
    confirm(pages, ask(), agent_name="Books", agent_handle="books", scopes=["react"], communities=[str(community.pk)])
    request = AgentRequest.objects.get()
    assert (request.agent_name, request.agent_handle, request.scopes, request.community_ids) == (
        "Books",
        "books",
        ["react"],
        [community.pk],
    )


def test_an_own_agent_needs_no_super_admin(pages: Client, person: Account) -> None:
    own, others = agent_with_token(requester=person), agent_with_token()
    code = ask(handle=own.account.handle)
    assert confirm(pages, code, agent=others.account.handle).status_code == 200
    assert error(poll(code)) == "authorization_pending"
    assert confirm(pages, code, agent=own.account.handle).status_code == 302
    assert poll(code).json()["account"]["id"] == str(own.account.pk)


def test_a_pending_request_for_the_same_handle_is_used(pages: Client) -> None:
    confirm(pages, ask())
    code = ask()
    assert confirm(pages, code).status_code == 302
    assert poll(code).json()["waiting_for"] == "super_admin"
    assert AgentRequest.objects.count() == 1


def approved(pages: Client) -> tuple[dict[str, Any], AgentRequest]:
    code = ask()
    confirm(pages, code)
    return code, approve_request(request_id=AgentRequest.objects.get().pk, by=SuperAdminFactory())


def test_a_lost_answer_is_sent_again_until_the_token_is_used(pages: Client) -> None:
    code, _request = approved(pages)
    first, again = poll(code), poll(code)
    assert first.json() == again.json()
    assert AgentToken.objects.count() == 1
    Client().get("/v1/agent/self", headers={"Authorization": f"Bearer {first.json()['access_token']}"})
    AgentToken.objects.update(last_used_at=timezone.now())
    assert error(poll(code)) == "invalid_grant"


@pytest.mark.parametrize("change", ["late", "revoked"])
def test_an_answer_is_not_sent_again(change: str, pages: Client, person: Account) -> None:
    code, _request = approved(pages)
    poll(code)
    if change == "late":
        DeviceGrant.objects.update(delivered_at=timezone.now() - device_grants.REPEATED_FOR)
    else:
        revoke_token(token_id=AgentToken.objects.get().pk, by=person)
    assert error(poll(code)) == "invalid_grant"


@pytest.mark.parametrize("end", ["refused", "rejected", "withdrawn", "frozen", "expired", "taken back"])
def test_a_grant_that_ended_says_so(end: str, pages: Client, person: Account) -> None:
    code = ask()
    if end == "refused":
        pages.post(PAGE, {"user_code": code["user_code"], "decision": "refuse"})
    elif end == "expired":
        DeviceGrant.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    else:
        confirm(pages, code)
        request_id = AgentRequest.objects.get().pk
        if end == "rejected":
            reject_request(request_id=request_id, by=SuperAdminFactory(), reason="No.")
        elif end == "withdrawn":
            cancel_request(request_id=request_id, by=person)
        elif end == "taken back":
            pages.post(PAGE, {"user_code": code["user_code"], "decision": "refuse"})
        else:
            request = approve_request(request_id=request_id, by=SuperAdminFactory())
            assert request.agent is not None
            freeze_agent(agent=request.agent, by=SuperAdminFactory())
    assert error(poll(code)) == ("expired_token" if end == "expired" else "access_denied")
    assert not AgentToken.objects.exists()


def test_polling_too_fast_is_told_to_slow_down() -> None:
    code = ask()
    assert "slow_down" in {error(poll(code)) for _ in range(3)}


def test_five_active_tokens_keep_the_program_waiting(pages: Client, person: Account) -> None:
    own = agent_with_token(requester=person)
    code = ask()
    confirm(pages, code, agent=own.account.handle)
    for number in range(4):
        token, _value = device_grants.create_token(request_id=own.agent.request.pk, by=person, label=str(number))
    waiting = poll(code)
    assert (error(waiting), waiting.json()["waiting_for"]) == ("authorization_pending", "person")
    revoke_token(token_id=token.pk, by=person)
    assert poll(code).status_code == 200


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"client_name": ""}, "invalid_request"),
        ({"client_name": ["Two", "Names"]}, "invalid_request"),
        ({"handle": "Not A Handle"}, "invalid_request"),
        ({"handle": ""}, "invalid_request"),
        ({"purpose": "short"}, "invalid_request"),
        ({"purpose": "x" * 2_001}, "invalid_request"),
        ({"scope": ""}, "invalid_request"),
        ({"scope": "post admin"}, "invalid_scope"),
        ({"scope": "account post"}, "invalid_scope"),
        ({"community_ids": "no-id"}, "invalid_request"),
        ({"community_ids": str(uuid4())}, "invalid_request"),
    ],
)
def test_a_bad_parameter_asks_for_nothing(changes: dict[str, Any], code: str) -> None:
    assert error(send("/oauth/device_authorization", **(ASKED | changes))) == code
    assert not DeviceGrant.objects.exists()


@pytest.mark.parametrize(
    ("parameters", "code"),
    [
        ({}, "invalid_request"),
        ({"grant_type": "password"}, "unsupported_grant_type"),
        ({"grant_type": device_grants.GRANT_TYPE}, "invalid_request"),
        ({"grant_type": device_grants.GRANT_TYPE, "device_code": "guess"}, "invalid_grant"),
    ],
)
def test_a_bad_request_for_a_token_is_refused(parameters: dict[str, str], code: str) -> None:
    assert error(send("/oauth/token", **parameters)) == code


def test_parameters_are_a_form_or_json() -> None:
    parameters = {"grant_type": device_grants.GRANT_TYPE, "device_code": "guess"}
    assert error(Client().post("/oauth/token", parameters, content_type="application/json")) == "invalid_grant"
    assert Client().post("/oauth/token", parameters).status_code == 415
    assert Client().post("/oauth/token", b"grant_type=%ff", content_type=FORM).status_code == 400
    assert Client().post("/oauth/token", b"grant_type=%00", content_type=FORM).status_code == 400


def test_guessed_codes_are_limited(pages: Client, person: Account, settings: Any) -> None:
    settings.ATTEMPT_LIMITS = settings.ATTEMPT_LIMITS | {"device_code": (3, 3600)}
    code = ask()
    for _ in range(4):
        # A code that exists is not counted.
        assert code["user_code"] in pages.get(PAGE, {"user_code": code["user_code"]}).content.decode()
    for _ in range(3):
        assert ASKED["client_name"] not in pages.get(PAGE, {"user_code": "BCD-BCD-BCD"}).content.decode()
    assert ASKED["client_name"] not in pages.get(PAGE, {"user_code": code["user_code"]}).content.decode()
    bystander = Client()
    bystander.force_login(PersonFactory())
    assert ASKED["client_name"] in bystander.get(PAGE, {"user_code": code["user_code"]}).content.decode()


def test_a_code_belongs_to_the_first_who_confirms_it(pages: Client, person: Account) -> None:
    code, other = ask(), Client()
    other.force_login(PersonFactory())
    assert confirm(pages, code).status_code == 302
    assert confirm(other, code, agent_handle="stolen").status_code == 404
    assert other.post(PAGE, {"user_code": code["user_code"], "decision": "refuse"}).status_code == 404
    assert AgentRequest.objects.get().requester == person
    assert error(poll(code)) == "authorization_pending"


def test_a_dump_has_neither_codes_nor_tokens(pages: Client) -> None:
    code, _request = approved(pages)
    token = poll(code).json()["access_token"]
    with connection.cursor() as cursor:
        cursor.execute("SELECT g::text, encode(answer, 'escape') FROM oauth_devicegrant g")
        dumped = str(cursor.fetchall())
    assert not any(secret in dumped for secret in (code["device_code"], code["user_code"], token))
    assert code["user_code"].replace("-", "") not in dumped


def test_a_person_signs_in_with_a_code(pages: Client, person: Account) -> None:
    code = ask_for_account()
    assert code["expires_in"] == 900
    shown = pages.get(PAGE, {"user_code": code["user_code"]})
    # A sign-in has to be recent.
    assert (shown.status_code, Account.objects.count()) == (200, 1)
    assert pages.post(PAGE, {"user_code": code["user_code"], "submission": str(uuid4()), "decision": "confirm"})
    answer = poll(code).json()
    assert (answer["scope"], answer["account"]["handle"]) == ("account", person.handle)
    me = Client().get("/api/auth/me", headers={"Authorization": f"Bearer {answer['access_token']}"})
    assert me.json()["handle"] == person.handle
    renewed = Client().post("/api/auth/refresh", {"refreshToken": answer["refresh_token"]}, "application/json")
    assert renewed.status_code == 200
    assert poll(code).json() == answer


def test_ended_sessions_end_a_confirmation(pages: Client, person: Account) -> None:
    code = ask_for_account()
    pages.post(PAGE, {"user_code": code["user_code"], "submission": str(uuid4()), "decision": "confirm"})
    sessions.end_all_sessions(account=person)
    assert error(poll(code)) == "access_denied"


def test_old_codes_are_pruned() -> None:
    ask()
    ended = ask(handle="ended_long_ago")
    digests = device_grants._digests("device code", ended["device_code"])
    DeviceGrant.objects.filter(device_digest__in=digests).update(expires_at=timezone.now() - timedelta(days=31))
    assert device_grants.prune(now=timezone.now(), dry_run=True) == {"device codes": 1}
    assert device_grants.prune(now=timezone.now(), dry_run=False) == {"device codes": 1}
    assert DeviceGrant.objects.count() == 1
