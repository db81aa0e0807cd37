import logging
import sys

import pytest

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
def test_what_is_no_credential_stays(text: str) -> None:
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


def test_every_handler_hides() -> None:
    assert all(
        LOGGING["formatters"][handler["formatter"]]["()"] == "config.logging.HidingFormatter"
        for handler in LOGGING["handlers"].values()
    )  # type: ignore[index]
