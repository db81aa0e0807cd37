"""What a client sends to say who calls."""

from __future__ import annotations

import base64
import binascii
import json
from dataclasses import dataclass
from typing import Any

AGENT_PREFIX = "cag_"


@dataclass(frozen=True, slots=True)
class Credential:
    """An agent token, or a person's user token with the id to send beside it.

    The other tokens are those of a person's sign-in, with which the client gets another user token.
    """

    token: str
    user_id: str = ""
    access_token: str = ""
    refresh_token: str = ""

    def __post_init__(self) -> None:
        others = (self.user_id, self.access_token, self.refresh_token)
        # A stored credential may be another program's JSON.
        is_visible = all(
            isinstance(text, str) and text.isascii() and text.isprintable() for text in (self.token, *others)
        )
        if not is_visible or not self.token.strip():
            raise ValueError("A token consists of visible ASCII characters.")

    @property
    def is_agent(self) -> bool:
        return self.token.startswith(AGENT_PREFIX)

    @property
    def headers(self) -> dict[str, str]:
        bearer = {"Authorization": f"Bearer {self.token}"}
        return bearer | ({"X-User-Id": self.user_id} if self.user_id else {})

    @property
    def sign_in_headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.access_token}"}

    def __repr__(self) -> str:
        """Without the tokens, for logs."""
        return f"Credential({self.token[:8]}…)" if self.is_agent else f"Credential(user_id={self.user_id!r})"

    @classmethod
    def of(cls, token: str | Credential | None) -> Credential | None:
        """The credential of a token. The id of a person is the subject of the user token."""
        return token if token is None or isinstance(token, Credential) else cls.of_text(token)

    @classmethod
    def of_text(cls, token: str) -> Credential:
        return cls(token, "" if token.startswith(AGENT_PREFIX) else _subject(token))


def _subject(token: str) -> str:
    """The claim `sub`, or nothing. The service verifies the token; this only reads it."""
    try:
        encoded = token.split(".")[1]
        claims: Any = json.loads(base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)))
    except (IndexError, ValueError, binascii.Error, RecursionError):
        return ""
    subject = claims.get("sub") if isinstance(claims, dict) else None
    return subject if isinstance(subject, str) and subject.isascii() and subject.isprintable() else ""
