"""What attackers try against OAuth: redirects, codes, tokens, pages, names, documents and device codes."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import orjson
import pytest
from django.test import Client
from django.utils import timezone

from oauth import clients, device_grants
from oauth.models import CodeGrant, DeviceGrant, OAuthClient, RefreshToken
from tests.agents.racing import race
from tests.factories import PersonFactory
from tests.oauth.consents import LISTENING, LOOPBACK, UNKNOWN, Consent, call_tool, page_of, register, returned, send
from tests.webhooks.receiver import Receiver, running_receiver

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("oauth")]
OTHER = "https://other.example/mcp"


@pytest.fixture
def consent() -> Consent:
    return Consent()


UNSAFE = {
    "none": [],
    "http": ["http://example.com/cb"],
    "a script": ["javascript:alert(1)"],
    "a name before the host": ["https://a@example.com/cb"],
    "a fragment": ["https://example.com/cb#x"],
    "another directive of the policy": ["https://example.com/;script-src *"],
    "one of two": [LOOPBACK, "http://127.0.0.1.example.com/cb"],
    "a port that is none": ["http://127.0.0.1:x/cb"],
    "eleven": [f"https://example.com/{number}" for number in range(11)],
}


@pytest.mark.parametrize("uris", UNSAFE.values(), ids=UNSAFE)
def test_unsafe_redirects_are_not_registered(uris: list[str]) -> None:
    assert register(redirect_uris=uris).status_code == 400
    assert not OAuthClient.objects.exists()


OPEN = {
    "another host": {"redirect_uri": "https://evil.example/cb"},
    "another path": {"redirect_uri": "http://127.0.0.1:9/other"},
    "another loopback name": {"redirect_uri": "http://localhost:9/callback"},
    "a name before the host": {"redirect_uri": "http://127.0.0.1:9@evil.example/callback"},
    "a longer path": {"redirect_uri": f"{LOOPBACK}/../x"},
    "a query": {"redirect_uri": f"{LOOPBACK}?next=https://evil.example"},
    "none": {"redirect_uri": ""},
    "an unknown client": {"client_id": UNKNOWN},
    "no client": {"client_id": "x"},
}


@pytest.mark.parametrize("changes", OPEN.values(), ids=OPEN)
@pytest.mark.parametrize("method", ["get", "post"])
def test_nothing_is_redirected_to_what_was_not_registered(
    consent: Consent, changes: dict[str, str], method: str
) -> None:
    path = page_of(**({"client_id": consent.client_id} | changes))
    answer = getattr(consent.browser, method)(path, {"decision": "refuse"} if method == "post" else None)
    assert answer.status_code == 400
    assert "Location" not in answer.headers


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"code_challenge": ""}, "invalid_request"),
        ({"code_challenge": "short"}, "invalid_request"),
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"code_challenge_method": ""}, "invalid_request"),
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"resource": OTHER}, "invalid_target"),
    ],
)
def test_a_wrong_request_is_told_to_the_program(consent: Consent, changes: dict[str, str], error: str) -> None:
    path = page_of(consent.client_id, **changes)
    for answer in (consent.browser.get(path), consent.decide(path)):
        assert returned(answer)["error"] == error
    assert not CodeGrant.objects.exists()


def test_a_parameter_sent_twice_is_refused(consent: Consent) -> None:
    path = f"{page_of(consent.client_id)}&scope=post&scope=reply"
    assert returned(consent.browser.get(path))["error"] == "invalid_request"


INJECTED = {
    "another verifier": {"code_verifier": "w" * 64},
    "a short verifier": {"code_verifier": "v"},
    "the registered address": {"redirect_uri": LOOPBACK},
    "an unknown client": {"client_id": UNKNOWN},
    "another code": {"code": "x"},
    "another service": {"resource": OTHER},
    "no verifier": {"code_verifier": ""},
}


@pytest.mark.parametrize("changes", INJECTED.values(), ids=INJECTED)
def test_an_injected_code_opens_nothing(consent: Consent, changes: dict[str, str]) -> None:
    assert consent.exchange(consent.code(), **changes).status_code == 400
    assert consent.active() == 0


def test_a_code_of_one_program_is_none_of_another(consent: Consent) -> None:
    other = register(client_name="Other").json()["client_id"]
    code, answer = consent.code(), consent.tokens()
    assert consent.exchange(code, client_id=other).json()["error"] == "invalid_grant"
    assert consent.refresh(answer["refresh_token"], client_id=other).json()["error"] == "invalid_grant"
    assert send("/oauth/revoke", token=answer["refresh_token"], client_id=other).status_code == 200
    assert consent.active() == 1
    assert consent.exchange(code).status_code == 200


@pytest.mark.parametrize("which", ["code", "refresh token"])
def test_an_old_code_or_refresh_token_opens_nothing(consent: Consent, which: str) -> None:
    code = consent.code()
    if which == "code":
        CodeGrant.objects.update(created_at=timezone.now() - timedelta(minutes=5, seconds=1))
        assert consent.exchange(code).json()["error"] == "invalid_grant"
    else:
        refresh = consent.exchange(code).json()["refresh_token"]
        RefreshToken.objects.update(expires_at=timezone.now())
        assert consent.refresh(refresh).json()["error"] == "invalid_grant"


@pytest.mark.parametrize("which", ["code", "refresh token"])
def test_what_is_used_twice_ends_all_its_tokens(consent: Consent, which: str) -> None:
    other = consent.tokens()["access_token"]
    code = consent.code()
    first = consent.exchange(code).json()
    second = consent.refresh(first["refresh_token"]).json()
    again = consent.exchange(code) if which == "code" else consent.refresh(first["refresh_token"])
    assert again.json()["error"] == "invalid_grant"
    for answer in (first, second):
        assert call_tool("whoami", answer["access_token"]).status_code == 401
    assert consent.refresh(second["refresh_token"]).status_code == 400
    # Another consent of the same person goes on.
    assert call_tool("whoami", other).status_code == 200
    assert consent.active() == 1


@pytest.mark.parametrize("changes", [{"resource": OTHER}, {"client_id": UNKNOWN}, {"refresh_token": "x"}])
def test_a_refresh_token_is_of_its_program_and_service(consent: Consent, changes: dict[str, str]) -> None:
    value = consent.tokens()["refresh_token"]
    assert consent.refresh(value, **changes).status_code == 400
    assert consent.refresh(value).status_code == 200


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("which", ["code", "refresh token"])
def test_of_exchanges_at_the_same_time_one_wins_and_no_token_is_left(consent: Consent, which: str) -> None:
    code = consent.code()
    refresh = consent.exchange(code).json()["refresh_token"] if which == "refresh token" else ""
    answers = race(3, lambda _number: consent.refresh(refresh) if refresh else consent.exchange(code))
    assert sorted(answer.status_code for answer in answers) == [200, 400, 400]
    assert consent.active() == 0


def test_only_the_operator_consents_and_on_no_framed_page(consent: Consent) -> None:
    path, form = page_of(consent.client_id), consent.form()
    page = consent.browser.get(path)
    assert "frame-ancestors 'none'" in page.headers["Content-Security-Policy"]
    assert "form-action 'self' http://127.0.0.1:49152" in page.headers["Content-Security-Policy"]
    assert Client().get(path).headers["Location"].startswith("/account/sign-in/")
    stranger = Client()
    stranger.force_login(PersonFactory())
    assert stranger.post(path, form).status_code == 200
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(consent.person)
    assert strict.post(path, form).status_code == 403
    assert consent.decide(agent=str(consent.bystander.pk)).status_code == 200
    assert returned(consent.decide(decision="refuse"))["error"] == "access_denied"
    assert not CodeGrant.objects.exists()


def test_a_held_key_presses_a_button_that_does_nothing(consent: Consent) -> None:
    """Enter presses the first button of a form, here a disabled one; no address can focus another."""
    page = consent.browser.get(page_of(consent.client_id)).content.decode()
    form = page[page.index("data-consent") :]
    buttons = [part.split(">", 1)[0] for part in form.split("<button")[1:]]
    assert "disabled" in buttons[0]
    assert not any(" id=" in button or "autofocus" in button for button in buttons)


def test_an_imitated_name_is_called_a_claim_beside_the_true_address(consent: Consent) -> None:
    name = "Claude <b>by Anthropic</b>"
    imitator = register(client_name=name, redirect_uris=["https://evil.example/cb"]).json()["client_id"]
    page = consent.browser.get(page_of(imitator, redirect_uri="https://evil.example/cb")).content.decode()
    assert "&lt;b&gt;by Anthropic" in page
    assert "evil.example" in page
    assert "chose its name itself" in page


# Documents of programs.


class Document:
    """A document on a server of the test; `changes` replace its fields."""

    def __init__(self, receiver: Receiver) -> None:
        self.receiver, self.url = receiver, f"http://127.0.0.1:{receiver.port}/client.json"
        self.serve()

    def serve(self, *, status: int = 200, body: bytes | None = None, **changes: Any) -> None:
        fields = {"client_id": self.url, "client_name": "Editor", "redirect_uris": [LOOPBACK]}
        content = orjson.dumps(fields | changes) if body is None else body

        def respond(handler: Any) -> None:
            handler.send_response(status)
            handler.send_header("Content-Length", str(len(content)))
            handler.send_header("Location", self.url)
            handler.end_headers()
            handler.wfile.write(content)

        self.receiver.respond = respond

    def forget(self) -> None:
        """Let ten minutes pass."""
        OAuthClient.objects.update(fetched_at=timezone.now() - clients.FRESH_FOR)


@pytest.fixture
def document(settings: Any) -> Iterator[Document]:
    settings.WEBHOOKS_ALLOW_LOCAL = True
    with running_receiver() as receiver:
        yield Document(receiver)


def test_a_document_is_a_client_which_is_fetched_once_in_ten_minutes(document: Document) -> None:
    consent = Consent(document.url)
    page = consent.browser.get(page_of(document.url)).content.decode()
    assert document.url.split("/")[2] in page
    answer = consent.tokens()
    assert call_tool("whoami", consent.refresh(answer["refresh_token"]).json()["access_token"]).status_code == 200
    assert len(document.receiver.received) == 1
    document.forget()
    consent.code()
    assert len(document.receiver.received) == 2


BAD_DOCUMENTS = {
    "another client": {"client_id": "https://other.example/client.json"},
    "a secret": {"client_secret": "x"},
    "a key": {"token_endpoint_auth_method": "private_key_jwt"},
    "a redirect": {"status": 302},
    "an error": {"status": 404},
    "no JSON": {"body": b"{"},
    "a list": {"body": b"[]"},
    "65 KB": {"body": b'{"x": "' + b"x" * 64 * 1024 + b'"}'},
    "no address": {"redirect_uris": []},
    "an unsafe address": {"redirect_uris": ["http://example.com/cb"]},
    "an address of another type": {"redirect_uris": "https://example.com/cb"},
    "a long name": {"client_name": "x" * 121},
}


@pytest.mark.parametrize("changes", BAD_DOCUMENTS.values(), ids=BAD_DOCUMENTS)
def test_a_bad_document_is_no_client(consent: Consent, document: Document, changes: dict[str, Any]) -> None:
    document.serve(**changes)
    assert consent.browser.get(page_of(document.url)).status_code == 400
    assert not OAuthClient.objects.exclude(metadata_url=None).exists()


@pytest.mark.parametrize(
    "url",
    [
        *("http://example.com/client.json", "https://127.0.0.1/client.json", "https://10.0.0.1/client.json"),
        *("https://[::1]/client.json", "https://169.254.169.254/latest/meta-data", "https://localhost/client.json"),
        *("https://example.com/", "https://example.com/a/../client.json", "https://example.com/client.json#x"),
        *("https://a:b@example.com/client.json", "file:///etc/passwd", "https://example.com:22/client.json"),
    ],
)
def test_documents_at_private_or_strange_addresses_are_not_fetched(
    consent: Consent, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clients, "fetch", None)
    assert consent.browser.get(page_of(url)).status_code == 400


def test_a_document_that_changes_after_consent_changes_no_consent(document: Document) -> None:
    consent = Consent(document.url)
    form, answer = consent.form(), consent.tokens()
    document.serve(client_name="Trusted", redirect_uris=[LOOPBACK, "https://evil.example/cb"])
    document.forget()
    # The form shows what was read before.
    seen = consent.browser.post(page_of(document.url), form)
    assert seen.headers["Location"].startswith("/account/authorize/")
    assert CodeGrant.objects.get().name == "Editor"
    again = consent.refresh(answer["refresh_token"])
    assert again.status_code == 200
    assert set(consent.agent.tokens.exclude(scopes=None).values_list("label", flat=True)) == {"Editor"}


def test_a_person_lets_few_documents_be_fetched(consent: Consent, document: Document, settings: Any) -> None:
    settings.SOFT_THROTTLES = settings.SOFT_THROTTLES | {"client_metadata": (2, 60)}
    document.serve(status=404)
    statuses = [consent.browser.get(page_of(document.url)).status_code for _ in range(3)]
    assert statuses == [400, 400, 429]
    assert len(document.receiver.received) == 2


# Device codes.


def ask_for_a_device_code() -> dict[str, Any]:
    purpose = "Answers questions about our books."
    asked = {"client_name": "Claude", "handle": "claude", "purpose": purpose, "scope": "post"}
    answer: dict[str, Any] = send("/oauth/device_authorization", **asked).json()
    return answer


def test_device_codes_cannot_be_guessed(consent: Consent, settings: Any) -> None:
    """A user code has 39 random bits, and a person few attempts; a device code has 256."""
    assert len(device_grants.ALPHABET) ** device_grants.USER_CODE_LENGTH > 2**38
    settings.ATTEMPT_LIMITS = settings.ATTEMPT_LIMITS | {"device_code": (3, 3600)}
    right = ask_for_a_device_code()["user_code"]
    for guess in ("BBB-BBB-BBB", "CCC-CCC-CCC", "DDD-DDD-DDD", right):
        page = consent.browser.get("/account/device/", {"user_code": guess})
        assert right not in page.content.decode() or guess == right
    assert DeviceGrant.objects.get().decided_at is None
    assert "Claude" not in page.content.decode()


def test_a_phishing_page_says_who_asked_and_since_when(consent: Consent) -> None:
    sent = {"user_code": ask_for_a_device_code()["user_code"]}
    page = consent.browser.get("/account/device/", sent).content.decode()
    for part in ("chose its name itself", "If someone sent you this code or link, refuse", "127.0.0", "<time"):
        assert part in page
    # The address alone confirms nothing, and neither does another site's form.
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(consent.person)
    assert strict.post("/account/device/", sent | {"decision": "confirm"}).status_code == 403
    assert DeviceGrant.objects.get().decided_at is None
    assert LISTENING not in page
