"""The commands with which an operator answers a person who asks: who, why, and why_refused."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from django.utils import timezone

from config.logging import LOGGING, HidingFormatter, JsonFormatter
from config.wsgi import application
from embeds.services import disable_embed
from kernel.metrics.wsgi import log_requests
from kernel.request_ids import RequestIdFilter
from mails.models import RefusedAddress
from messaging.models import Ban, ClosedPage, Page
from messaging.models.account import SignIn
from messaging.pages.services import normalize_url
from tests.agents.factories import agent_with_token
from tests.cache.conftest import environ_of
from tests.commands.running import refused, run_json
from tests.embeds.making import an_embed
from tests.factories import CommunityFactory, MessageFactory, PersonFactory, SuperAdminFactory

pytestmark = pytest.mark.django_db


def test_who_tells_the_state_of_a_person(django_assert_max_num_queries: Any) -> None:
    person, other = PersonFactory(password="four plain quiet words"), PersonFactory()
    holder = agent_with_token(requester=person)
    agent_with_token(requester=other)
    SignIn.objects.create(account=person, door="pages", first="password")
    SignIn.objects.create(account=other, door="pages", first="password", refused=True)
    Ban.objects.create(community=CommunityFactory(slug="valley"), account=person, reason="Spam")
    Authenticator.objects.create(user=person, type=Authenticator.Type.TOTP, data={})
    EmailAddress.objects.create(user=person, email="p@example.com", verified=True, primary=True)
    with django_assert_max_num_queries(13):
        said = run_json("who", f"@{person.handle}")
    assert said["state"] == "active"
    assert said["bans"] == [{"community": "valley", "reason": "Spam"}]
    assert (said["secondFactors"], said["mail"], said["superAdmin"]) == (["totp"], "verified", False)
    assert said["lastSignIn"]
    assert said["lastRefusedSignIn"] is None, "that of another person"
    assert said["agents"] == {holder.agent.account.handle: "active"}
    assert "p@example.com" not in str(said)
    RefusedAddress.objects.create(account=person, address="p@example.com", reason="550 unknown")
    person.is_active = False
    person.save()
    said = run_json("who", person.handle)
    assert (said["state"], said["mail"]) == ("suspended", "refused: 550 unknown")
    assert said["agents"] == {holder.agent.account.handle: "suspended"}
    person.erasure_due_at = timezone.now()
    person.save()
    assert run_json("who", person.handle)["state"].startswith("is erased at ")
    assert run_json("who", other.handle)["mail"] == "no address"


def test_who_tells_the_state_of_an_agent_and_refuses_an_unknown_handle() -> None:
    holder = agent_with_token()
    said = run_json("who", holder.agent.account.handle)
    assert (said["kind"], said["operator"]) == ("agent", holder.agent.operator.handle)
    assert "hasPassword" not in said
    assert refused("who", "nobody_here") == "@nobody_here does not exist."


def test_why_explains_a_page_and_the_embeds_that_name_its_host() -> None:
    url = "https://news.example/story?utm_source=x"
    shown = an_embed(domain_whitelist=["news.example"])
    disabled = an_embed(domain_whitelist=["news.example"])
    disable_embed(embed_id=disabled.pk, by=SuperAdminFactory())
    other = an_embed(domain_whitelist=["other.example"])
    assert run_json("why", url)["posts"] == 0
    assert not Page.objects.exists(), "it stores nothing"
    page = Page.objects.get(pk=normalize_url(url=url).page_id)
    MessageFactory(page=page)
    ClosedPage.objects.create(community=shown.community, page=page)
    said = run_json("why", url)
    assert (said["pageId"], said["normalizedUrl"]) == (page.pk, page.normalized_url)
    assert (said["posts"], said["replies"], said["closedIn"]) == (1, 0, [shown.community.slug])
    assert {one["id"]: (one["isShown"], one["reason"]) for one in said["embeds"]} == {
        str(shown.pk): (True, "all_pages"),
        str(disabled.pk): (False, "disabled"),
    }
    (one,) = run_json("why", url, "--embed", str(other.pk))["embeds"]
    assert (one["isShown"], one["reason"]) == (False, "not_whitelisted")


@pytest.mark.parametrize("url", ["news.example/story", "ftp://news.example/", "https://", "x" * 3000])
def test_why_refuses_what_is_no_address_of_a_page(url: str) -> None:
    assert "is not the http or https address" in refused("why", url)


def test_why_refuses_an_unknown_embed() -> None:
    missing = "01890a5d-ac96-774b-bcce-b302099a8057"
    assert refused("why", "https://news.example/", "--embed", missing) == f"Embed {missing} does not exist."


FORMATTERS = {
    "text": HidingFormatter(LOGGING["formatters"]["line"]["format"], style="{"),
    "json": JsonFormatter(),
}


@pytest.fixture(params=FORMATTERS)
def log(request: pytest.FixtureRequest, caplog: pytest.LogCaptureFixture, tmp_path: Path) -> Callable[[], str]:
    """Writes what was logged to a file, each line behind the words of journald. Returns its name."""
    caplog.set_level(logging.INFO)
    caplog.handler.addFilter(RequestIdFilter())

    def write() -> str:
        file = tmp_path / "log"
        lines = [FORMATTERS[request.param].format(record) for record in caplog.records]
        file.write_text("".join(f"Nov 29 09:00:00 host community-messaging[1]: {line}\n" for line in lines))
        return str(file)

    return write


def served(path: str, **headers: str) -> str:
    """Send a request through the access log, as workers do. Returns the id of its response."""
    sent: dict[str, str] = {}
    serve = log_requests(application)
    b"".join(serve(environ_of(path) | headers, lambda _status, headers, *_rest: sent.update(headers)))
    return sent["X-Request-ID"]


@pytest.mark.parametrize(
    ("path", "accepted", "status", "code"),
    [
        ("/v1/me/messages", "*/*", 401, "not_authenticated"),
        ("/api/messages", "*/*", 400, "invalid_input"),
        ("/nowhere it's/", "text/html", 404, "not_found"),
        ("/api/nowhere", "text/html", 404, "not_found"),
    ],
)
def test_why_refused_explains_a_refusal(
    log: Callable[[], str], path: str, accepted: str, status: int, code: str
) -> None:
    served("/v1/smart-tags")
    refusal = served(path, HTTP_ACCEPT=accepted)
    served("/account/sign-in/nowhere/")
    said = run_json("why_refused", refusal, "--log", log())
    assert (said["requestId"], said["method"], said["path"]) == (refusal, "GET", path)
    assert (said["status"], said["error"], said["lines"]) == (status, code, [])
    assert said["cause"]
    assert said["docs"].endswith(f"/{code}")


def test_why_refused_tells_of_a_defect_and_of_a_response_that_is_no_refusal(log: Callable[[], str]) -> None:
    read = served("/v1/smart-tags")
    logging.getLogger("a.module").error("It {broke}", extra={"request_id": "lost.1"})
    said = run_json("why_refused", read, "--log", log())
    assert (said["status"], said["operation"], "error" in said) == (200, "listSmartTags", False)
    said = run_json("why_refused", "lost.1", "--log", log())
    assert [line["message"] for line in said["lines"]] == ["It {broke}"]
    assert "status" not in said
    assert "has no line of lost" in refused("why_refused", "lost", "--log", log())


def test_why_refused_reads_standard_input(log: Callable[[], str], monkeypatch: pytest.MonkeyPatch) -> None:
    refusal = served("/v1/me/messages")
    with Path(log()).open() as lines:
        monkeypatch.setattr(sys, "stdin", lines)
        assert run_json("why_refused", refusal)["error"] == "not_authenticated"
    assert "nowhere.log" in refused("why_refused", refusal, "--log", "nowhere.log")
