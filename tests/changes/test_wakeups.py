"""The thread of a process that wakes the streams."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection

from kernel.changes import wakeups
from kernel.changes.log import NewChange, append
from kernel.changes.wakeups import CHANNEL, PAUSE_AFTER_ERROR_SECONDS, _Announcer
from tests.waiting import PATIENCE_SECONDS

pytestmark = pytest.mark.django_db(transaction=True)


def test_without_postgresql_one_line_is_logged_and_the_wakeup_stays_due(caplog: pytest.LogCaptureFixture) -> None:
    announcer = _Announcer()
    connection.close()
    host, connection.settings_dict["HOST"] = connection.settings_dict["HOST"], "/nowhere"
    try:
        assert announcer._notify() == PAUSE_AFTER_ERROR_SECONDS
    finally:
        connection.settings_dict["HOST"] = host
    assert announcer.due.is_set()
    (message,) = caplog.messages
    assert message.startswith("The streams were not woken: ")
    assert "\n" not in message


class End:
    """As a pause: ends the thread."""

    def __float__(self) -> float:
        raise SystemExit


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_defect_does_not_end_the_thread(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    announcer = _Announcer()
    monkeypatch.setattr(wakeups, "_announcer", announcer)
    monkeypatch.setattr(wakeups, "PAUSE_AFTER_ERROR_SECONDS", 0.01)
    with connection.get_new_connection(connection.get_connection_params()) as listener:
        listener.autocommit = True
        listener.execute(f"LISTEN {CHANNEL}")
        # Read after each notification: not a number.
        settings.WAKEUP_SECONDS = "defect"
        for _ in range(2):
            append([NewChange(type="message.created")])
            assert len(list(listener.notifies(timeout=PATIENCE_SECONDS, stop_after=1))) == 1
    settings.WAKEUP_SECONDS = End()
    assert announcer._thread is not None
    announcer._thread.join(PATIENCE_SECONDS)
    assert not announcer._thread.is_alive()
