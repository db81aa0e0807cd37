"""What a restored database needs before it serves: readers of its change log have read rows that it may lack."""

from __future__ import annotations

import secrets
from typing import Any

import psycopg

from kernel.changes.restored import BEGIN_AGAIN, GENERATION_MAX

TABLE = "SELECT to_regclass('public.changes_changelog')"


def begin_again(session: psycopg.Connection[Any]) -> None:
    """Make all cursors of before invalid.

    The generation is random: a backup that is restored twice must not accept the cursors of its first restore.
    """
    row = session.execute(TABLE).fetchone()
    if row and row[0] is not None:
        session.execute(BEGIN_AGAIN.encode(), {"generation": secrets.randbelow(GENERATION_MAX)})
        session.commit()
