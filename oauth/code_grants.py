"""The authorization code with PKCE S256, and refresh tokens that work once (OAuth 2.1), for programs that speak MCP.

An access token is a token of the agent that the person chose. It is valid for an hour and does not count among the
agent's five. A code or a refresh token that is sent a second time was stolen: then all tokens of the consent end.
"""

from __future__ import annotations

import base64
import re
import secrets
from collections.abc import Collection
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any, NamedTuple
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import F, OuterRef, Q, Subquery

from agents import tokens
from agents.exceptions import AgentFrozen, AgentNotFound
from agents.models import LABEL_MAX, Agent, AgentToken
from agents.services.tokens import active_agent, end_tokens, issue_token
from kernel.database.sql import database_now
from kernel.writes.deletion import delete_in_batches
from kernel.writes.transaction import retried
from messaging.models import Account
from oauth.device_grants import answer_with
from oauth.exceptions import InvalidGrant, InvalidOAuthScope, InvalidTarget, ProgramNotFound
from oauth.models import CodeGrant, OAuthClient, RefreshToken

CODE_TYPE, REFRESH_TYPE = "authorization_code", "refresh_token"
CODE_FOR, ACCESS_FOR, REFRESH_FOR = timedelta(minutes=5), timedelta(hours=1), timedelta(days=30)
UNUSED_CLIENT_FOR = timedelta(days=1)
CHALLENGE = re.compile(r"[A-Za-z0-9_-]{43}")
VERIFIER = re.compile(r"[A-Za-z0-9._~-]{43,128}")
ENDED = "The program revoked it, or a code or refresh token was used twice."
REVOKED = "Its person revoked the program."
CONSENTS_MAX = 100


class Program(NamedTuple):
    """A client with the consents of a person that work."""

    client: OAuthClient
    consents: list[CodeGrant]

    @property
    def name(self) -> str:
        return self.consents[0].name


def resource() -> str:
    return f"{settings.BASE_URL}/mcp"


def require_resource(sent: str) -> None:
    """Raises InvalidTarget (400). Clients add a slash, and some send the origin alone."""
    if sent and sent.rstrip("/") not in {resource(), settings.BASE_URL}:
        raise InvalidTarget


def is_challenge(challenge: str, method: str) -> bool:
    return method == "S256" and CHALLENGE.fullmatch(challenge) is not None


@retried
@transaction.atomic
def consent(
    *, client: OAuthClient, by: Account, agent_id: UUID, scopes: Collection[str], redirect_uri: str, challenge: str
) -> str:
    """Returns a code for the client, with the scopes of these that the agent has.

    Raises InvalidOAuthScope (400) if it has none, AgentNotFound (404) for one of another person, AgentFrozen (409).
    """
    if not Agent.objects.operated_by(by).filter(pk=agent_id).exists():
        raise AgentNotFound
    agent = active_agent(agent_id)
    granted = [scope for scope in agent.scopes if scope in scopes]
    if not granted:
        raise InvalidOAuthScope
    code = secrets.token_urlsafe(32)
    CodeGrant.objects.create(
        client=client,
        person=by,
        agent=agent,
        name=client.name,
        scopes=granted,
        redirect_uri=redirect_uri,
        challenge=challenge,
        code_digest=tokens.digest(code),
        created_at=database_now(),
    )
    return code


def exchange_code(
    *, code: str, client_id: str, code_verifier: str, redirect_uri: str, resource: str = ""
) -> dict[str, Any]:
    """The first tokens. Raises InvalidGrant, InvalidTarget (400)."""
    require_resource(resource)
    return _answer_of(_exchange_code(code, client_id, code_verifier, redirect_uri))


def refresh(*, refresh_token: str, client_id: str, resource: str = "") -> dict[str, Any]:
    """The next tokens. Raises InvalidGrant, InvalidTarget (400)."""
    require_resource(resource)
    return _answer_of(_refresh(refresh_token, client_id))


@retried
@transaction.atomic
def revoke(*, token: str, client_id: str) -> None:
    """End all tokens of the consent that the token is from (RFC 7009); an unknown token is no error."""
    digests = tokens.digests(token)
    of_token = Q(refresh_tokens__digest__in=digests) | Q(refresh_tokens__access_token__digest__in=digests)
    grant = _locked(CodeGrant.objects.filter(pk__in=CodeGrant.objects.filter(of_token).values("pk")), client_id)
    if grant is not None:
        _end(grant)


def programs_of(person: Account) -> list[Program]:
    """The programs that can get a token now, those that were let in last first."""
    grants = CodeGrant.objects.of_person(person).working().select_related("client", "agent__account")
    used = AgentToken.objects.filter(refresh_token__grant=OuterRef("pk")).order_by(
        F("last_used_at").desc(nulls_last=True)
    )
    rows = grants.annotate(used_at=Subquery(used.values("last_used_at")[:1])).order_by("-created_at")[:CONSENTS_MAX]
    programs: dict[UUID, Program] = {}
    for grant in rows:
        programs.setdefault(grant.client_id, Program(grant.client, [])).consents.append(grant)
    return list(programs.values())


def program_of(person: Account, program_id: UUID) -> Program:
    """Raises ProgramNotFound (404)."""
    found = next((each for each in programs_of(person) if each.client.pk == program_id), None)
    if found is None:
        raise ProgramNotFound
    return found


@retried
@transaction.atomic
def revoke_program(*, program_id: UUID, by: Account) -> None:
    """End all tokens and codes that the person gave to a program. Raises ProgramNotFound (404) if there are none."""
    own = CodeGrant.objects.of_person(by).filter(client=program_id, revoked_at=None)
    grants = list(own.select_for_update(of=("self",)).select_related("person").order_by("pk"))
    if not grants:
        raise ProgramNotFound
    for grant in grants:
        _end(grant, reason=REVOKED)


def prune(*, now: datetime, dry_run: bool) -> dict[str, int]:
    """Delete or count clients that nobody let in, consents whose refresh tokens have all expired, and old tokens.

    A refresh token that was used is stored until it expires, since its reuse is a theft.
    """
    ended = now - REFRESH_FOR
    grants = CodeGrant.objects.filter(created_at__lt=ended).exclude(refresh_tokens__expires_at__gt=now)
    clients = OAuthClient.objects.filter(created_at__lt=now - UNUSED_CLIENT_FOR, grants=None)
    issued = AgentToken.objects.exclude(scopes=None).filter(expires_at__lt=ended)
    rows = {"consents of programs": grants, "unused programs": clients, "tokens of programs": issued}
    return {name: found.count() if dry_run else delete_in_batches(found) for name, found in rows.items()}


@retried
@transaction.atomic
def _exchange_code(code: str, client_id: str, verifier: str, redirect_uri: str) -> dict[str, Any] | None:
    """None if the code is refused: what it ended is committed, which a refusal would undo."""
    grant = _locked(CodeGrant.objects.filter(code_digest__in=tokens.digests(code)), client_id)
    if grant is None:
        return None
    if grant.exchanged_at is not None:
        _end(grant)
        return None
    is_right = (
        redirect_uri == grant.redirect_uri and VERIFIER.fullmatch(verifier) and _s256(verifier) == grant.challenge
    )
    now = database_now()
    if not is_right or grant.created_at + CODE_FOR <= now:
        return None
    grant.exchanged_at = now
    grant.save(update_fields=["exchanged_at"])
    return _issue(grant, now)


@retried
@transaction.atomic
def _refresh(value: str, client_id: str) -> dict[str, Any] | None:
    found = RefreshToken.objects.filter(digest__in=tokens.digests(value)).first()
    grant = None if found is None else _locked(CodeGrant.objects.filter(pk=found.grant_id), client_id)
    if found is None or grant is None:
        return None
    # After the lock: a request beside this one may have used it.
    found.refresh_from_db()
    now = database_now()
    # A person revokes the token that they see; the program must not get the next one.
    is_revoked = AgentToken.objects.filter(refresh_token__grant=grant, revoked_at__isnull=False).exists()
    if found.used_at is not None or is_revoked:
        _end(grant)
        return None
    if found.expires_at <= now:
        return None
    found.used_at = now
    found.save(update_fields=["used_at"])
    return _issue(grant, now)


def _locked(grants: Any, client_id: str) -> CodeGrant | None:
    grant: CodeGrant | None = grants.select_for_update(of=("self",)).select_related("person", "client").first()
    is_own = grant is not None and grant.client.client_id == client_id and grant.revoked_at is None
    return grant if is_own else None


def _issue(grant: CodeGrant, now: datetime) -> dict[str, Any] | None:
    """None if the agent is stopped, or has another operator or none of the scopes by now."""
    try:
        agent = active_agent(grant.agent_id)
    except AgentFrozen:
        return None
    if agent.operator_id != grant.person_id or not set(agent.scopes) & set(grant.scopes):
        return None
    # No inbox announces the end of a token that is renewed before.
    about: dict[str, Any] = {"label": grant.name[:LABEL_MAX], "scopes": grant.scopes, "expiry_announced_at": now}
    row, value = issue_token(agent, by=grant.person, lifetime=ACCESS_FOR, **about)
    next_refresh = secrets.token_urlsafe(32)
    RefreshToken.objects.create(
        grant=grant, access_token=row, digest=tokens.digest(next_refresh), expires_at=now + REFRESH_FOR
    )
    return answer_with(row, value, agent) | {"refresh_token": next_refresh}


def _end(grant: CodeGrant, reason: str = ENDED) -> None:
    """The caller has locked the grant."""
    grant.revoked_at = database_now()
    grant.save(update_fields=["revoked_at"])
    issued = AgentToken.objects.filter(refresh_token__grant=grant).active().locked().order_by("id")
    end_tokens(list(issued), by=grant.person, reason=reason)


def _answer_of(answer: dict[str, Any] | None) -> dict[str, Any]:
    if answer is None:
        raise InvalidGrant
    return answer


def _s256(verifier: str) -> str:
    return base64.urlsafe_b64encode(sha256(verifier.encode()).digest()).rstrip(b"=").decode()
