"""Sessions of the admin, stored under a keyed digest of the cookie: a copy of the table signs nobody in.

Only the methods that a WSGI server calls are overridden; the asynchronous ones are not used.
"""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.sessions.backends import db
from django.utils import timezone

from config.api import signing

# The column's width in hexadecimal digits: 160 bits.
DIGITS = 40


def stored_key(session_key: str) -> str:
    """The primary key of a session's row."""
    return signing.mac(settings.SECRET_KEY, "admin session", session_key.encode()).hex()[:DIGITS]


class SessionStore(db.SessionStore):
    """Django's, but for the key of the row. `session_key` is the cookie's value here."""

    def exists(self, session_key: str) -> bool:
        return super().exists(stored_key(session_key))

    def create_model_instance(self, data: dict[str, Any]) -> Any:
        row = super().create_model_instance(data)
        row.session_key = stored_key(row.session_key)
        return row

    def delete(self, session_key: str | None = None) -> None:
        key = session_key or self.session_key
        if key is not None:
            super().delete(stored_key(key))

    def _get_session_from_db(self) -> Any:
        """None, and another key at the next save, where there is no such session."""
        key = stored_key(self.session_key or "")
        row = self.model.objects.filter(session_key=key, expire_date__gt=timezone.now()).first()
        if row is None:
            self._session_key = None
        return row
