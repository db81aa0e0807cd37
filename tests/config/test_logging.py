import logging
import sys

import pytest
from django.http import HttpResponse
from django.test import Client, RequestFactory
from django.utils.log import log_response

from config.logging import LOGGING, HidingFormatter, hide_credentials

AGENT_TOKEN = "cag_" + "A1b2C3d4E5" * 4 + "abc123"
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl-_"


@pytest.mark.parametrize(
    "secret", [AGENT_TOKEN, AGENT_TOKEN[:30], JWT, JWT.rpartition(".")[0], "Bearer opaque-value", "bearer  x.y"]
)
@pytest.mark.parametrize("around", ["{}", "token={} refused", "{{'Authorization': '{}'}}", '"{}",'])
def test_a_credential_is_hidden(secret: str, around: str) -> None:
    hidden = hide_credentials(around.format(secret))
    assert secret.rsplit(maxsplit=1)[-1] not in hidden
    assert "[hidden]" in hidden
    assert hidden.startswith(around[:1].replace("{", hidden[:1]))


@pytest.mark.parametrize("text", ["cag_A1b2C3d4", "the bearer", "eyJ is how one starts", "/v1/agent-tokens"])
def test_other_texts_are_not_hidden(text: str) -> None:
    assert hide_credentials(text) == text


def test_arguments_and_tracebacks_are_hidden_too() -> None:
    try:
        int(AGENT_TOKEN)
    except ValueError:
        record = logging.LogRecord("x", logging.ERROR, __file__, 1, "sent %s", (JWT,), sys.exc_info())
    line = HidingFormatter("{message}", style="{").format(record)
    assert "cag_[hidden]" in line
    assert AGENT_TOKEN not in line
    assert JWT not in line


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("method", "path", "headers", "status"),
    [
        ("GET", "/api/messages?" + "&".join(f"a{n}=1" for n in range(1_100)), {}, 400),
        ("GET", "/v1/smart-tags", {"Host": "evil.example"}, 400),
        ("POST", "/admin/login/", {}, 403),
        ("DELETE", "/embed/panel", {}, 405),
        ("GET", "/nowhere", {}, 404),
    ],
)
def test_a_refusal_is_not_logged(
    caplog: pytest.LogCaptureFixture, method: str, path: str, headers: dict[str, str], status: int
) -> None:
    answer = Client(enforce_csrf_checks=True).generic(method, path, headers=headers)
    assert answer.status_code == status
    assert not caplog.records


@pytest.mark.parametrize("name", ["csrf", "DisallowedHost", "SuspiciousSession", "TooManyFieldsSent"])
def test_django_security_logs_nothing(name: str) -> None:
    assert not logging.getLogger(f"django.security.{name}").isEnabledFor(logging.ERROR)


def test_a_failure_of_the_service_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    log_response("Broken: %s", "/", response=HttpResponse(status=500), request=RequestFactory().get("/"))
    assert [record.levelname for record in caplog.records] == ["ERROR"]


def test_every_handler_hides_credentials() -> None:
    assert all(
        LOGGING["formatters"][handler["formatter"]]["()"] == "config.logging.HidingFormatter"
        for handler in LOGGING["handlers"].values()
    )  # type: ignore[index]
