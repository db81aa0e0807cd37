"""The credential of a request (`request.auth`): none, an agent token, a user token or a sign-in JWT."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from kernel.api.exceptions import AgentCommunityNotAllowed, AgentScopeMissing, OtherCommunity


class CredentialKind(StrEnum):
    """An operation names the kinds it accepts. `PUBLIC` accepts all of them, and requests without a credential."""

    PUBLIC = "public"
    AGENT = "agent"
    PERSON = "person"
    SIGNED_IN = "signed_in"


@dataclass(frozen=True, slots=True)
class Credential:
    """A verified credential. `user`: a `messaging.Account`, the `AgentAccount` of an agent token, or None (`PUBLIC`).

    `signed_in_at`: when the person of a sign-in JWT entered the password. `is_of_panel`: the user token comes from the
    cookie of a panel. The fields after it belong to agent tokens, but `community_ids` also to accounts of sites.
    `is_reviewed`: its operator releases what it writes.
    An empty `community_ids` allows every community; `stored_response` is the row stored for the Idempotency-Key of this
    request (`kernel.writes.idempotency`), None for a new key.
    """

    kind: CredentialKind
    user: Any = None
    expires_at: datetime | None = None
    signed_in_at: datetime | None = None
    is_of_panel: bool = False
    scopes: frozenset[str] = frozenset()
    community_ids: frozenset[UUID] = frozenset()
    token_id: UUID | None = None
    token_prefix: str = ""
    operator_id: UUID | None = None
    is_reviewed: bool = False
    stored_response: tuple[Any, ...] | None = None

    @property
    def is_agent(self) -> bool:
        return self.kind is CredentialKind.AGENT

    @property
    def is_super_admin(self) -> bool:
        return self.user is not None and bool(self.user.is_superuser)

    @property
    def banned_with(self) -> list[UUID]:
        """The accounts whose ban applies to it: its own, and the operator of an agent."""
        own: list[UUID] = [self.user.pk]
        return own if self.operator_id is None else [*own, self.operator_id]

    @property
    def allowed_communities(self) -> list[str]:
        return sorted(map(str, self.community_ids))

    def require_scopes(self, needed: Collection[str]) -> None:
        """Raises AgentScopeMissing (403) for an agent that lacks one of them."""
        for scope in needed if self.is_agent else ():
            if scope not in self.scopes:
                raise AgentScopeMissing(scope, needed=needed, allowed=self.scopes)

    def require_community(self, community_id: UUID | None) -> None:
        """Raises AgentCommunityNotAllowed or OtherCommunity (403) for an account that is limited to others."""
        if self.community_ids and community_id not in self.community_ids:
            raise self.refusal_of_community()

    def refusal_of_community(self) -> AgentCommunityNotAllowed | OtherCommunity:
        refusal = AgentCommunityNotAllowed if self.is_agent else OtherCommunity
        return refusal(allowed=self.allowed_communities)


ANONYMOUS = Credential(kind=CredentialKind.PUBLIC)
