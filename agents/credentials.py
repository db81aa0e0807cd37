"""From an agent token to its Caller: one statement a request, never cached, so that a revocation holds at once."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from agents import tokens, uses
from config.api import idempotency
from config.api.callers import Caller, CallerKind
from config.api.errors import InvalidToken, TokenExpired, TokenRevoked
from config.api.idempotency import Key
from config.api.sql import Row, fetch_one
from messaging.models import AccountKind

KEPT = ", ".join(f"kept.{name}" for name in idempotency.COLUMNS)
FIND = f"""
SELECT token.id, token.prefix, token.expires_at,
    token.revoked_at IS NOT NULL OR agent.frozen_at IS NOT NULL OR NOT account.is_active OR NOT operator.is_active,
    token.expires_at <= clock_timestamp(),
    token.digest <> %(digest)s
        OR token.last_used_at IS NULL OR token.last_used_at < clock_timestamp() - interval '1 minute',
    agent.scopes, agent.community_ids, account.id, account.handle, account.name, {KEPT}
FROM agents_agenttoken token
JOIN agents_agent agent ON agent.account_id = token.agent_id
JOIN messaging_account account ON account.id = agent.account_id
JOIN messaging_account operator ON operator.id = agent.operator_id
LEFT JOIN LATERAL ({idempotency.OF_ACCOUNT}) kept ON true
WHERE token.digest IN (%(digest)s, %(previous_digest)s)
"""  # noqa: S608  made of constants


class AgentAccount(NamedTuple):
    """What a call needs to know of an agent's account; a model takes as long to make as a statement to send."""

    pk: UUID
    handle: str
    name: str
    kind: AccountKind = AccountKind.AGENT
    is_superuser: bool = False


class Found(NamedTuple):
    """One row of FIND, and what was looked for."""

    token_id: UUID
    prefix: str
    expires_at: datetime
    is_stopped: bool
    is_expired: bool
    is_note_due: bool
    scopes: list[str]
    community_ids: list[UUID]
    account_id: UUID
    handle: str
    name: str
    # The row of the answer kept for this call, if it is a retry.
    kept: Row | None
    # Under the current pepper; not what the row has while a rotation is under way.
    digest: bytes


def find(token: str, key: Key | None) -> Found:
    """The token as it stands, whether it works or not; raises InvalidToken (401). `key`: of this call."""
    if not tokens.is_well_formed(token):
        raise InvalidToken
    digests = tokens.digests(token)
    values = {"digest": digests[0], "previous_digest": digests[-1]} | idempotency.look_up(key)
    row = fetch_one(FIND, values)
    if row is None:
        raise InvalidToken
    kept = row[-idempotency.WIDTH :]
    return Found._make((*row[: -idempotency.WIDTH], None if kept[0] is None else kept, digests[0]))


def caller_of(found: Found) -> Caller:
    """The agent behind a token that was found; raises TokenRevoked or TokenExpired (401)."""
    if found.is_stopped:
        raise TokenRevoked
    if found.is_expired:
        raise TokenExpired
    if found.is_note_due:
        uses.note(found.token_id, found.digest)
    return Caller(
        kind=CallerKind.AGENT,
        account=AgentAccount(found.account_id, found.handle, found.name),
        scopes=frozenset(found.scopes),
        community_ids=frozenset(found.community_ids),
        token={"id": found.token_id, "prefix": found.prefix},
        expires_at=found.expires_at,
        kept=found.kept,
    )
