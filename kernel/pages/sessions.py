"""Sessions of the pages, stored under a keyed digest of the cookie: a copy of the table contains no valid cookie.
They expire by the clock of the database, by which `prune` deletes them.

Of their data, which Django signs and does not encrypt, the entries in ENCRYPTED can be read only with the cookie.

Only the synchronous methods are overridden; under WSGI the asynchronous ones are not used.
"""

from __future__ import annotations

import base64
from datetime import timedelta
from typing import Any

import orjson
from django.conf import settings
from django.contrib.sessions.backends import db
from django.db.models.functions import Now

from kernel.api import signing

# The width of the column; 160 bits.
DIGITS = 40
PURPOSE = "admin session"
# The state and the verifier of sign-ins in progress at an OpenID Connect provider would let an attacker complete them.
ENCRYPTED = ("socialaccount_states",)


def stored_key(session_key: str) -> str:
    """The primary key of a session's row."""
    return signing.mac(settings.SECRET_KEY, PURPOSE, session_key.encode()).hex()[:DIGITS]


class SessionStore(db.SessionStore):
    """Django's store with a digest as the primary key. `session_key` is the value of the cookie."""

    def exists(self, session_key: str) -> bool:
        return super().exists(stored_key(session_key))

    def encode(self, session_dict: dict[str, Any]) -> str:
        hidden = {name: self._encrypt(session_dict[name]) for name in ENCRYPTED if name in session_dict}
        return super().encode(session_dict | hidden)

    def decode(self, session_data: bytes | str) -> dict[str, Any]:
        data: dict[str, Any] = super().decode(session_data)
        shown = {name: self._decrypt(data[name]) for name in ENCRYPTED if name in data}
        return data | shown

    def create_model_instance(self, data: dict[str, Any]) -> Any:
        row = super().create_model_instance(data)
        row.session_key = stored_key(row.session_key)
        row.expire_date = Now() + timedelta(seconds=self.get_expiry_age())
        return row

    def delete(self, session_key: str | None = None) -> None:
        key = session_key or self.session_key
        if key is not None:
            super().delete(stored_key(key))

    def _get_session_from_db(self) -> Any:
        """Return None for an unknown session, and reset the key, so that the next save creates another."""
        key = stored_key(self.session_key or "")
        row = self.model.objects.filter(session_key=key, expire_date__gt=Now()).first()
        if row is None:
            self._session_key = None
        return row

    def _encrypt(self, value: Any) -> str:
        """Under a key of the cookie, which the session has before it is encoded."""
        plain = orjson.dumps(value)
        return base64.b64encode(signing.encrypt(settings.SECRET_KEY, PURPOSE, self._cookie, plain)).decode()

    def _decrypt(self, text: Any) -> Any:
        """None for what an earlier release has stored in clear: the sign-in has to begin again."""
        if not isinstance(text, str):
            return None
        plain = signing.decrypt(settings.SECRET_KEY, PURPOSE, self._cookie, base64.b64decode(text))
        return None if plain is None else orjson.loads(plain)

    @property
    def _cookie(self) -> bytes:
        key: str = self._get_or_create_session_key()  # type: ignore[attr-defined]  # missing in the stubs
        return key.encode()
