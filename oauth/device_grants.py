"""The device grant (RFC 8628): a program asks, a person confirms on a page, and the program fetches its token.

For an agent, the confirmation makes a request, which super admins decide in their queue, or names an agent that the
person operates already. With the scope `account` the token is a sign-in of the person. Polling writes nothing.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import orjson
from django.conf import settings
from django.db import transaction

from agents.exceptions import AgentFrozen, AgentNotFound, RequestNotApproved, TooManyActiveTokens
from agents.models import ACTIVE_MAX, Agent, AgentRequest, AgentToken, RequestStatus, Scope
from agents.services import create_token, request_agent
from agents.services.requests import known_communities
from kernel.api import signing, throttling
from kernel.api.exceptions import InvalidInput, RateLimited
from kernel.cache.rendering import to_json
from kernel.database.sql import database_now
from kernel.writes import attempts
from kernel.writes.deletion import delete_in_batches
from kernel.writes.transaction import retried
from messaging.accounts import sessions
from messaging.accounts.services import account_record
from messaging.models import Account
from oauth.exceptions import (
    AccessDenied,
    AuthorizationPending,
    DeviceCodeDecided,
    DeviceCodeNotFound,
    ExpiredToken,
    InvalidGrant,
    InvalidOAuthRequest,
    InvalidOAuthScope,
    SlowDown,
)
from oauth.models import DeviceGrant

GRANT_TYPE = "urn:ietf:params:oauth:grant-type:device_code"
ACCOUNT_SCOPE = "account"
# Consonants only: no code is a word, and none of them looks like another one or like a digit. 39 random bits.
ALPHABET = "BCDFGHJKLMNPQRSTVWXZ"
USER_CODE_LENGTH, GROUP = 9, 3
FOR_AGENT, FOR_ACCOUNT = timedelta(days=7), timedelta(minutes=15)
INTERVAL = 5
# How often to ask while a super admin decides: proposed in the answer, not required.
DECISION_INTERVAL = 60
# An answer may get lost: so long the same device code gets it again, unless its token was used.
REPEATED_FOR = timedelta(minutes=10)
STORED_DAYS = 30


def ask(
    *,
    client_name: str,
    scope: str,
    network: str,
    handle: str = "",
    purpose: str = "",
    community_ids: Sequence[UUID] = (),
) -> tuple[DeviceGrant, str, str]:
    """Store what a program asks for; returns the row, its device code and its user code.

    Raises InvalidOAuthScope, InvalidOAuthRequest (400).
    """
    scopes = list(dict.fromkeys(scope.split()))
    for_account = scopes == [ACCOUNT_SCOPE]
    if not scopes or not (for_account or set(scopes) <= set(Scope.values)):
        raise InvalidOAuthScope
    if not for_account:
        for name, value in (("handle", handle), ("purpose", purpose)):
            if not value:
                raise InvalidOAuthRequest(f"Send `{name}`: an agent needs it.", field=name)
    try:
        communities = [] if for_account else known_communities(community_ids)
    except InvalidInput as unknown:
        raise InvalidOAuthRequest(unknown.message, field="community_ids") from None
    device_code, user_code = secrets.token_urlsafe(32), _new_user_code()
    now = database_now()
    root = next(signing.root_keys())
    row = DeviceGrant.objects.create(
        device_digest=_digest(root, "device code", device_code),
        user_digest=_digest(root, "user code", user_code),
        client_name=client_name,
        handle="" if for_account else handle,
        purpose="" if for_account else purpose,
        scopes=[] if for_account else scopes,
        community_ids=communities,
        for_account=for_account,
        network=network,
        created_at=now,
        expires_at=now + (FOR_ACCOUNT if for_account else FOR_AGENT),
    )
    return row, device_code, shown(user_code)


def find_for(person: Account, *, user_code: str, network: str) -> DeviceGrant:
    """The grant that a person may confirm, or has confirmed.

    Codes that do not exist are counted by person and by network. Raises DeviceCodeNotFound (404), RateLimited (429).
    """
    counters = (attempts.Counter("device_code", str(person.pk)), attempts.Counter("device_network", network))
    counted = attempts.count(*counters)
    grant = DeviceGrant.objects.filter(user_digest__in=_digests("user code", normalized(user_code))).first()
    if grant is None or grant.expires_at <= database_now() or grant.person_id not in {None, person.pk}:
        raise DeviceCodeNotFound
    attempts.forget(list(counted.values()))
    return grant


@retried
@transaction.atomic
def confirm(
    *, grant_id: UUID, by: Account, agent: Agent | None = None, arguments: dict[str, Any] | None = None
) -> DeviceGrant:
    """Let the program have a token of `agent`, which `by` operates, or of an agent requested with `arguments`.

    A pending request of the person for the same handle is not made a second time. Raises DeviceCodeNotFound (404),
    DeviceCodeDecided, TooManyActiveTokens, AgentFrozen (409), and what `request_agent` raises.
    """
    grant = _lock_undecided(grant_id)
    if not grant.for_account:
        grant.request = _own_request_of(agent, by) if agent is not None else _requested(by, arguments or {})
    grant.person, grant.decided_at = by, database_now()
    grant.save(update_fields=["request", "person", "decided_at"])
    return grant


@retried
@transaction.atomic
def refuse(*, grant_id: UUID, by: Account) -> DeviceGrant:
    """Refuse an undecided grant, or take back an own confirmation whose token was not fetched yet.

    Raises DeviceCodeNotFound (404), DeviceCodeDecided (409).
    """
    grant = _locked(grant_id)
    if grant.person_id not in {None, by.pk}:
        raise DeviceCodeNotFound
    if grant.is_refused or grant.delivered_at is not None:
        raise DeviceCodeDecided
    grant.person, grant.is_refused, grant.decided_at = by, True, database_now()
    grant.save(update_fields=["person", "is_refused", "decided_at"])
    return grant


@retried
@transaction.atomic
def exchange(*, device_code: str) -> dict[str, Any]:
    """The answer with the token, the same one again if it may have got lost.

    Raises AuthorizationPending, SlowDown, AccessDenied, ExpiredToken, InvalidGrant (400).
    """
    found = DeviceGrant.objects.filter(device_digest__in=_digests("device code", device_code)).first()
    if found is None:
        raise InvalidGrant
    try:
        throttling.hit("device_poll", str(found.pk))
    except RateLimited:
        raise SlowDown from None
    if found.delivered_at is None:
        _require_confirmed(found)
        # Two programs with the same code: the second one waits here, and gets the answer of the first.
        found = _locked(found.pk)
    if found.delivered_at is not None:
        return _repeated(found, device_code)
    # It may have been refused meanwhile.
    _require_confirmed(found)
    answer = _sign_in(found) if found.for_account else _agent_token(found)
    secret = device_code.encode()
    found.answer = signing.encrypt(next(signing.root_keys()), "device answer", secret, to_json(answer))
    found.delivered_at = database_now()
    found.save(update_fields=["token", "answer", "delivered_at"])
    return answer


def shown(user_code: str) -> str:
    """`BCD-FGH-JKL`, as programs and pages show a code."""
    return "-".join(user_code[start : start + GROUP] for start in range(0, len(user_code), GROUP))


def normalized(user_code: str) -> str:
    """A code as typed, in any case and with any signs between the letters."""
    return "".join(letter for letter in user_code.upper() if letter in ALPHABET)


def prune(*, now: datetime, dry_run: bool) -> dict[str, int]:
    """Delete or count grants that ended long ago, for the command `prune`: until then programs learn why they end."""
    old = DeviceGrant.objects.filter(expires_at__lt=now - timedelta(days=STORED_DAYS))
    return {"device codes": old.count() if dry_run else delete_in_batches(old)}


def _require_confirmed(grant: DeviceGrant) -> None:
    if grant.is_refused:
        raise AccessDenied("The person refused: do not ask again without talking to them.")
    if grant.expires_at <= database_now():
        raise ExpiredToken
    if grant.decided_at is None:
        text = f"The person has not confirmed yet: they enter the code at {settings.BASE_URL}/account/device/."
        raise AuthorizationPending(text, waiting_for="person", interval=INTERVAL)
    request = grant.request
    if request is not None and request.status == RequestStatus.PENDING:
        text = f"The person has confirmed; a super admin decides on @{request.agent_handle}."
        raise AuthorizationPending(text, waiting_for="super_admin", interval=DECISION_INTERVAL)
    if request is not None and request.status != RequestStatus.APPROVED:
        raise AccessDenied(f"The request for @{request.agent_handle} was {request.status}. {request.reason}".strip())


def _agent_token(grant: DeviceGrant) -> dict[str, Any]:
    if grant.request is None or grant.person is None:
        raise InvalidGrant
    try:
        grant.token, value = create_token(request_id=grant.request.pk, by=grant.person, label=grant.client_name)
    except TooManyActiveTokens as full:
        text = f"The agent has {full.fields['max']} tokens that work: its operator revokes one at /account/agents/."
        raise AuthorizationPending(text, waiting_for="person", interval=DECISION_INTERVAL) from None
    except (AgentFrozen, RequestNotApproved):
        raise AccessDenied("The agent is stopped or deleted: ask its operator.") from None
    agent = Agent.objects.select_related("account").get(pk=grant.token.agent_id)
    return answer_with(grant.token, value, agent)


def answer_with(token: AgentToken, value: str, agent: Agent) -> dict[str, Any]:
    """The answer of `/oauth/token` with a token of an agent."""
    token.agent = agent
    return {
        "access_token": value,
        "token_type": "Bearer",
        "expires_in": int((token.expires_at - token.created_at).total_seconds()),
        "scope": " ".join(token.granted_scopes),
        "community_ids": [str(pk) for pk in agent.community_ids],
        "account": account_record(agent.account),
    }


def _sign_in(grant: DeviceGrant) -> dict[str, Any]:
    person = grant.person
    if person is None:
        raise InvalidGrant
    since = person.sessions_valid_from
    is_ended = since is not None and grant.decided_at is not None and since > grant.decided_at
    if not person.is_active or person.erasure_due_at is not None or is_ended:
        raise AccessDenied("The person has ended their sessions or their account since they confirmed.")
    session = sessions.start_session(account=person)
    return {
        "access_token": session.access,
        "token_type": "Bearer",
        "expires_in": int((session.expires_at - database_now()).total_seconds()),
        "refresh_token": session.refresh,
        "scope": ACCOUNT_SCOPE,
        "account": account_record(person),
    }


def _repeated(grant: DeviceGrant, device_code: str) -> dict[str, Any]:
    token = grant.token
    is_used = token is not None and (token.last_used_at is not None or token.revoked_at is not None)
    if is_used or grant.delivered_at is None or grant.delivered_at + REPEATED_FOR <= database_now():
        raise InvalidGrant
    for root in signing.root_keys():
        plain = signing.decrypt(root, "device answer", device_code.encode(), bytes(grant.answer or b""))
        if plain is not None:
            answer: dict[str, Any] = orjson.loads(plain)
            return answer
    raise InvalidGrant


def _own_request_of(agent: Agent, by: Account) -> AgentRequest:
    """The approved request of an own agent whose token can be made now."""
    own = Agent.objects.live().operated_by(by).select_related("account", "operator").filter(pk=agent.pk).first()
    if own is None:
        raise AgentNotFound
    if own.is_stopped:
        raise AgentFrozen
    if own.tokens.active().created_by_people().count() >= ACTIVE_MAX:
        raise TooManyActiveTokens(max=ACTIVE_MAX)
    return own.request


def _requested(by: Account, arguments: dict[str, Any]) -> AgentRequest:
    same = AgentRequest.objects.asked_by(by).pending().filter(agent_handle=arguments["agent_handle"]).first()
    return same or request_agent(requester=by, **arguments)


def _lock_undecided(grant_id: UUID) -> DeviceGrant:
    grant = _locked(grant_id)
    if grant.decided_at is not None:
        raise DeviceCodeDecided
    if grant.expires_at <= database_now():
        raise DeviceCodeNotFound
    return grant


def _locked(grant_id: UUID) -> DeviceGrant:
    # Lock, then read in a second statement: the first would see the request of before the wait for the lock.
    if not DeviceGrant.objects.select_for_update(no_key=True).filter(pk=grant_id):
        raise DeviceCodeNotFound
    return DeviceGrant.objects.select_related("request", "token", "person").get(pk=grant_id)


def _new_user_code() -> str:
    return "".join(secrets.choice(ALPHABET) for _ in range(USER_CODE_LENGTH))


def _digests(purpose: str, code: str) -> list[bytes]:
    return [_digest(root, purpose, code) for root in signing.root_keys()]


def _digest(root: str, purpose: str, code: str) -> bytes:
    return signing.mac(root, purpose, code.encode())
