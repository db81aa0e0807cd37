"""Checks agent tokens with one query per request and no cache, so that a revocation takes effect at once.

The middlewares check the token of a request, and count the refused calls of an agent. When a token was last used is
noted in memory and written in batches, every second (TOKEN_USE_SECONDS): a statement and a commit in each request would
add a third to the cost of a post. A process that stops loses the notes of its last second.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from datetime import datetime
from http import HTTPStatus
from threading import Lock, Timer
from typing import Any, NamedTuple, NoReturn
from uuid import UUID

from django.conf import settings
from django.db import Error, connections
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from agents import denied_calls, tokens
from agents.exceptions import OperatorBeingErased
from kernel.api import throttling
from kernel.api.authentication import bearer_of
from kernel.api.chain import SAFE_METHODS, Respond
from kernel.api.context import ApiHttpRequest
from kernel.api.credentials import Credential, CredentialKind
from kernel.api.exception_handler import error_response, response_to
from kernel.api.exceptions import (
    AgentRouteNotAllowed,
    AgentSuspended,
    ApiError,
    InvalidToken,
    TokenExpired,
    TokenRevoked,
)
from kernel.database.sql import Row, execute, fetch_all, fetch_one
from kernel.writes import idempotency
from kernel.writes.idempotency import IdempotencyKey
from messaging.models import AccountKind

logger = logging.getLogger(__name__)

# SKIP LOCKED: a note is not worth a wait for a lock. During a rotation of the pepper, this statement also replaces the
# digest of each used token by the one under the current pepper.
WRITE = """
WITH due AS (
    SELECT token.id, noted.digest FROM agents_agenttoken token
    JOIN unnest(%s::uuid[], %s::bytea[]) AS noted (id, digest) ON noted.id = token.id
    WHERE token.digest <> noted.digest
        OR last_used_at IS NULL OR last_used_at < clock_timestamp() - interval '1 minute'
    FOR NO KEY UPDATE OF token SKIP LOCKED
)
UPDATE agents_agenttoken token SET last_used_at = clock_timestamp(), digest = due.digest
FROM due WHERE token.id = due.id
"""

_noted: dict[UUID, bytes] = {}
_lock = Lock()


def note(token_id: UUID, digest: bytes) -> None:
    """Note the use of a token. `digest`: the token's digest under the current pepper."""
    with _lock:
        is_first = not _noted
        _noted[token_id] = digest
    if not settings.TOKEN_USE_SECONDS:
        flush()
    elif is_first:
        _schedule_flush()


def flush() -> None:
    """Write the notes to the database. An error is logged and drops them: the next use is noted again."""
    with _lock:
        noted = dict(_noted)
        _noted.clear()
    try:
        execute(WRITE, [list(noted), list(noted.values())])
    except Error:
        logger.exception("last_used_at of %s tokens was not written", len(noted))


def _schedule_flush() -> None:
    timer = Timer(settings.TOKEN_USE_SECONDS, _flush_and_disconnect)
    timer.daemon = True
    try:
        timer.start()
    except RuntimeError:
        # No thread can be started: drop the notes, and retry at the next use.
        logger.exception("The uses of tokens were not written")
        with _lock:
            _noted.clear()


def _flush_and_disconnect() -> None:
    try:
        flush()
    finally:
        connections.close_all()


STORED = ", ".join(f"stored.{name}" for name in idempotency.COLUMNS)
IS_REVOKED = "token.revoked_at IS NOT NULL"
IS_SUSPENDED = "agent.frozen_at IS NOT NULL OR NOT account.is_active OR NOT operator.is_active"
# What stopped it is the erasure that its operator waits for, and not its own state.
IS_OF_ERASED = "operator.erasure_due_at IS NOT NULL AND agent.frozen_at IS NULL"
IS_EXPIRED = "token.expires_at <= clock_timestamp()"
TOKENS = """agents_agenttoken token
JOIN agents_agent agent ON agent.account_id = token.agent_id
JOIN messaging_account account ON account.id = agent.account_id
JOIN messaging_account operator ON operator.id = agent.operator_id"""
SCOPES = """CASE WHEN token.scopes IS NULL THEN agent.scopes
    ELSE ARRAY(SELECT unnest(agent.scopes) INTERSECT SELECT unnest(token.scopes)) END"""
FIND = f"""
SELECT token.id, token.prefix, token.expires_at, {IS_REVOKED}, {IS_SUSPENDED}, {IS_OF_ERASED}, {IS_EXPIRED},
    token.digest <> %(digest)s
        OR token.last_used_at IS NULL OR token.last_used_at < clock_timestamp() - interval '1 minute',
    {SCOPES}, agent.community_ids, account.id, account.handle, account.name, agent.operator_id,
    agent.review = 'all', {STORED}
FROM {TOKENS}
LEFT JOIN LATERAL ({idempotency.OF_ACCOUNT}) stored ON true
WHERE token.digest IN (%(digest)s, %(previous_digest)s)
"""  # noqa: S608  only constants
GRANTS = f"""
SELECT token.id, {SCOPES}, agent.community_ids FROM {TOKENS}
WHERE token.id = ANY(%s) AND NOT ({IS_REVOKED} OR {IS_SUSPENDED} OR {IS_EXPIRED})
"""  # noqa: S608  only constants


class AgentAccount(NamedTuple):
    """The fields of an agent's account that requests use. A model instance would cost as much time as a query."""

    pk: UUID
    handle: str
    name: str
    kind: AccountKind = AccountKind.AGENT
    is_superuser: bool = False
    # Libraries for Django ask for it.
    is_authenticated: bool = True


class FoundToken(NamedTuple):
    """A row of FIND and the token's digest."""

    token_id: UUID
    prefix: str
    expires_at: datetime
    is_revoked: bool
    is_suspended: bool
    is_of_erased: bool
    is_expired: bool
    is_note_due: bool
    scopes: list[str]
    community_ids: list[UUID]
    account_id: UUID
    handle: str
    name: str
    operator_id: UUID
    is_reviewed: bool
    # The stored response if this request is a retry.
    stored_response: Row | None
    # Under the current pepper; during a rotation the row may have the digest under the previous pepper.
    digest: bytes


def find(token: str, key: IdempotencyKey | None) -> FoundToken:
    """The row of a token, revoked and expired ones included; raises InvalidToken (401) if there is none."""
    if not tokens.is_well_formed(token):
        raise InvalidToken
    digests = tokens.digests(token)
    values = {"digest": digests[0], "previous_digest": digests[-1]} | idempotency.look_up(key)
    row = fetch_one(FIND, values)
    if row is None:
        raise InvalidToken
    stored = row[-idempotency.WIDTH :]
    return FoundToken._make((*row[: -idempotency.WIDTH], None if stored[0] is None else stored, digests[0]))


def agent_credential(found: FoundToken) -> Credential:
    """The credential of a valid token; raises TokenRevoked, AgentSuspended or TokenExpired (401)."""
    if found.is_revoked:
        raise TokenRevoked
    if found.is_suspended:
        raise OperatorBeingErased if found.is_of_erased else AgentSuspended
    if found.is_expired:
        raise TokenExpired
    if found.is_note_due:
        note(found.token_id, found.digest)
    return Credential(
        kind=CredentialKind.AGENT,
        user=AgentAccount(found.account_id, found.handle, found.name),
        expires_at=found.expires_at,
        scopes=frozenset(found.scopes),
        community_ids=frozenset(found.community_ids),
        token_id=found.token_id,
        token_prefix=found.prefix,
        operator_id=found.operator_id,
        is_reviewed=found.is_reviewed,
        stored_response=found.stored_response,
    )


def ended_agents(credentials: Sequence[Credential]) -> list[Credential]:
    """Those of agents that are not valid any more, or whose grant has changed, since they were read.

    One query, for the setting CREDENTIAL_CHECKS.
    """
    agents = [each for each in credentials if each.is_agent]
    if not agents:
        return []
    rows = fetch_all(GRANTS, [[each.token_id for each in agents]])
    grants = {token: (frozenset(scopes), frozenset(communities)) for token, scopes, communities in rows}
    return [each for each in agents if grants.get(each.token_id) != (each.scopes, each.community_ids)]


class AgentTokenMiddleware:
    """Sets the credential of the context to the agent's; refuses an agent token that is not valid (401).

    It runs before the body is parsed, so a refused call costs one query. ScopeMiddleware checks the credentials of
    people. A refusal of the middlewares after it becomes its response here.
    """

    def __init__(self, get_response: Respond) -> None:
        self.get_response = get_response

    def __call__(self, request: ApiHttpRequest) -> HttpResponseBase:
        try:
            _authenticate(request)
            response = self.get_response(request)
        except Exception as failure:  # noqa: BLE001  response_to re-raises anything but API errors
            response = response_to(failure)
        if 400 <= response.status_code < 500:
            _count_refusal(request, response)
        return response


def _authenticate(request: ApiHttpRequest) -> None:
    token, api = _agent_token(request), request.api
    if token is not None:
        api.key = IdempotencyKey.of(request)
        found = find(token, api.key)
        # Set for revoked and expired tokens too, so that their calls are counted.
        api.token_holder = found.account_id
        api.credential = agent_credential(found)


def _count_refusal(request: ApiHttpRequest, response: HttpResponseBase) -> None:
    api = request.api
    if api.token_holder is None:
        return
    # A 405 or 404 of what no operation declares is no refusal of the agent.
    if api.credential.is_agent and (api.operation or response.status_code == HTTPStatus.FORBIDDEN):
        throttling.note("agent_refused", str(api.credential.token_id))
    operation = api.operation.id if api.operation else ""
    denied_calls.note(agent_id=api.token_holder, operation=operation, response=response)


class PageTokenMiddleware:
    """Refuses agents on the pages: an agent token that is not valid (401), any on an unsafe method (403)."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

    def process_view(self, request: HttpRequest, _view: Any, _args: Any, _kwargs: Any) -> HttpResponse | None:
        token = _agent_token(request)
        if token is None:
            return None
        try:
            found = find(token, None)
        except ApiError as refusal:
            return error_response(refusal)
        try:
            credential = agent_credential(found)
            if request.method not in SAFE_METHODS:
                _refuse(credential)
        except ApiError as refusal:
            response = error_response(refusal)
            denied_calls.note(agent_id=found.account_id, operation="", response=response)
            return response
        return None


def _refuse(credential: Credential) -> NoReturn:
    throttling.check("agent_refused", str(credential.token_id))
    throttling.note("agent_refused", str(credential.token_id))
    raise AgentRouteNotAllowed


def _agent_token(request: HttpRequest) -> str | None:
    try:
        token = bearer_of(request)
    except InvalidToken:
        # A malformed header: pages ignore it, operations refuse it.
        return None
    return token if token is not None and token.startswith(tokens.TOKEN_PREFIX) else None
