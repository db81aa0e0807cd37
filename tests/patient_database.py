"""The database connections of the tests: their timeouts are longer than those of the service.

On a busy machine a test that locks rows, or runs many threads, would end a wait of the service by chance.
"""

from __future__ import annotations

from django.db import connection

from kernel.database.bounds import MARGIN_SECONDS
from tests.waiting import LOCK_TIMEOUT_SECONDS

REPLACED = {
    "-c lock_timeout=2000 ": f"-c lock_timeout={LOCK_TIMEOUT_SECONDS}000 ",
    "-c statement_timeout=5000 ": "-c statement_timeout=60000 ",
    "-c idle_in_transaction_session_timeout=10000 ": "-c idle_in_transaction_session_timeout=120000 ",
}


def install() -> None:
    """Before the first connection: all threads share these settings."""
    options = connection.settings_dict["OPTIONS"]
    connection.settings_dict["ANSWER_SECONDS"] = 60 + MARGIN_SECONDS
    if "options" not in options:
        # The role of the sessions of a pooler has them.
        return
    connection.settings_dict["ANSWER_SECONDS"] = 60 + MARGIN_SECONDS
    for old, new in REPLACED.items():
        assert old in options["options"]
        options["options"] = options["options"].replace(old, new)
