import json
import logging
import sys
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from django.http import HttpResponse
from django.test import Client, RequestFactory
from django.urls import reverse
from django.utils.log import log_response

from config.logging import LOGGING, HidingFormatter, JsonFormatter, hide_credentials
from kernel.database.backend import base
from kernel.database.sql import fetch_all

AGENT_TOKEN = "cag_" + "A1b2C3d4E5" * 4 + "abc123"
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl-_"


def test_a_credential_is_hidden() -> None:
    secrets = [AGENT_TOKEN, AGENT_TOKEN[:30], JWT, JWT.rpartition(".")[0], "Bearer opaque-value", "bearer  x.y"]
    for secret in secrets:
        for around in ("{}", "token={} refused", "{{'Authorization': '{}'}}", '"{}",'):
            hidden = hide_credentials(around.format(secret))
            assert secret.rsplit(maxsplit=1)[-1] not in hidden
            assert "[hidden]" in hidden
            assert hidden.startswith(around[:1].replace("{", hidden[:1]))


def test_a_token_in_an_address_is_hidden() -> None:
    for address in (
        reverse("account_reset_password_from_key", args=[UUID(int=1), "s3cret-token"]),
        reverse("account_confirm_email", args=["s3cret-token:1x:y"]),
        reverse("unsubscribe", args=["answer", "s3cret-token:1x:y"]),
    ):
        for around in ("GET '{}' 200", "GET https://talk.example{}?next=/x", "Internal Server Error: {}"):
            assert "s3cret" not in hide_credentials(around.format(address))
        assert hide_credentials(address).startswith(address[: address.index("s3cret")])


def test_other_texts_are_not_hidden() -> None:
    for text in (
        *("cag_A1b2C3d4", "the bearer", "eyJ is how one starts", "/v1/agent-tokens"),
        *("/account/password/reset/", "/account/addresses/"),
    ):
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
def test_a_refusal_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    client = Client(enforce_csrf_checks=True)
    for status, method, path, headers in (
        (400, "GET", "/api/messages?" + "&".join(f"a{n}=1" for n in range(1_100)), {}),
        (400, "GET", "/v1/smart-tags", {"Host": "evil.example"}),
        (403, "POST", "/admin/login/", {}),
        (405, "DELETE", "/embed/panel", {}),
        (404, "GET", "/nowhere", {}),
    ):
        assert client.generic(method, path, headers=headers).status_code == status
        assert not caplog.records
    for name in ("csrf", "DisallowedHost", "SuspiciousSession", "TooManyFieldsSent"):
        assert not logging.getLogger(f"django.security.{name}").isEnabledFor(logging.ERROR)


def test_a_failure_of_the_service_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    log_response("Broken: %s", "/", response=HttpResponse(status=500), request=RequestFactory().get("/"))
    assert [record.levelname for record in caplog.records] == ["ERROR"]


def test_every_handler_has_a_formatter_that_hides_credentials() -> None:
    formatters = {"config.logging.HidingFormatter", "config.logging.JsonFormatter"}
    assert {formatter["()"] for formatter in LOGGING["formatters"].values()} == formatters  # type: ignore[attr-defined]


def json_line(message: str, *arguments: object, **extra: object) -> dict[str, object]:
    record = logging.LogRecord("some.module", logging.WARNING, __file__, 1, message, arguments, None)
    record.__dict__.update(extra)
    text = JsonFormatter().format(record)
    assert "\n" not in text
    parsed: dict[str, object] = json.loads(text)
    return parsed


def test_a_line_of_json_has_the_fields_of_its_call() -> None:
    line = json_line("took %d ms", 5, request_id="id-1", fields={"milliseconds": 5, "cache": None, "level": "x"})
    assert (line["level"], line["logger"], line["message"]) == ("WARNING", "some.module", "took 5 ms")
    assert (line["requestId"], line["milliseconds"]) == ("id-1", 5)
    assert "cache" not in line
    assert str(line["time"]).endswith("Z")


def test_a_line_of_json_hides_credentials_in_message_fields_and_traceback() -> None:
    line = json_line('sent "%s"\n\x00', AGENT_TOKEN, fields={"path": f"/x/{JWT}"})
    assert AGENT_TOKEN not in str(line)
    assert JWT not in str(line)
    assert line["message"] == 'sent "cag_[hidden]"\n\x00'
    try:
        int(AGENT_TOKEN)
    except ValueError:
        record = logging.LogRecord("x", logging.ERROR, __file__, 1, "failed", (), sys.exc_info())
    text = JsonFormatter().format(record)
    assert "ValueError" in text
    assert AGENT_TOKEN not in text


def test_a_line_of_json_may_have_any_text() -> None:
    assert json_line("half of a pair: %s", "\ud800")["message"] == "half of a pair: \\ud800"


@pytest.mark.django_db
class TestSlowStatements:
    def test_the_line_has_placeholders_and_no_values(self, settings: Any, caplog: pytest.LogCaptureFixture) -> None:
        settings.SLOW_STATEMENT_MS = 1
        base._lines = base._Lines()
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_sleep(0.01),\n   %s", ["a-private-value"])
        fetch_all("SELECT pg_sleep(0.01), %s::text", ["another-private-value"])
        lines = [record.getMessage() for record in caplog.records if record.name == base.__name__]
        assert ["SELECT pg_sleep(0.01), %s" in line for line in lines] == [True, True]
        assert not any("private-value" in line for line in lines)

    def test_few_lines_a_second_are_logged(self, settings: Any, caplog: pytest.LogCaptureFixture) -> None:
        settings.SLOW_STATEMENT_MS = 1
        for _ in range(100):
            base.observe("SELECT 1", 0.5)
        lines = [record for record in caplog.records if record.name == base.__name__]
        # The test may last into another second.
        assert 1 <= len(lines) < 100

    def test_no_line_below_the_limit(self, settings: Any, caplog: pytest.LogCaptureFixture) -> None:
        for settings.SLOW_STATEMENT_MS in (0, 1000):
            base.observe("SELECT 1", 0.9)
            assert not caplog.records
