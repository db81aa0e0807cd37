"""Sessions of the admin, stored under a keyed digest of the cookie: a copy of the table contains no valid cookie.

Only the synchronous methods are overridden; under WSGI the asynchronous ones are not used.
"""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.sessions.backends import db
from django.utils import timezone

from config.api import signing

# The width of the column; 160 bits.
DIGITS = 40


def stored_key(session_key: str) -> str:
    """The primary key of a session's row."""
    return signing.mac(settings.SECRET_KEY, "admin session", session_key.encode()).hex()[:DIGITS]


class SessionStore(db.SessionStore):
    """Django's store with a digest as the primary key. `session_key` is the value of the cookie."""

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
        """Return None for an unknown session, and reset the key, so that the next save creates another."""
        key = stored_key(self.session_key or "")
        row = self.model.objects.filter(session_key=key, expire_date__gt=timezone.now()).first()
        if row is None:
            self._session_key = None
        return row
