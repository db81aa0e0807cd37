"""Who is calling: nobody, an agent by its token, a person by a user token, or a person by a sign-in JWT."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from config.api.errors import AgentCommunityNotAllowed


class CallerKind(StrEnum):
    """The kinds of credential. An operation names those it accepts; `PUBLIC` accepts all and none."""

    PUBLIC = "public"
    AGENT = "agent"
    PERSON = "person"
    SIGNED_IN = "signed_in"


@dataclass(frozen=True, slots=True)
class Caller:
    """One authenticated caller. `account`: of a person a `messaging.Account`, of an agent an `agents` AgentAccount.

    `scopes`, `community_ids` and `kept` hold for agents only. An empty `community_ids` means every community; `kept`
    is the row of the answer that is kept for this very call (`config.api.idempotency`), None where it is new.
    """

    kind: CallerKind
    account: Any = None
    scopes: frozenset[str] = frozenset()
    community_ids: frozenset[UUID] = frozenset()
    token: dict[str, Any] = field(default_factory=dict)
    expires_at: datetime | None = None
    kept: tuple[Any, ...] | None = None

    @property
    def is_super_admin(self) -> bool:
        return self.account is not None and bool(self.account.is_superuser)

    def require_community(self, community_id: UUID | None) -> None:
        """Refuse an agent that is limited to communities and names none, or another (403)."""
        if self.community_ids and community_id not in self.community_ids:
            raise AgentCommunityNotAllowed


ANYONE = Caller(kind=CallerKind.PUBLIC)
