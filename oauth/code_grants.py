"""The authorization code with PKCE S256, and refresh tokens that work once (OAuth 2.1), for programs that speak MCP.

An access token is a token of the agent that the person chose. It is valid for an hour and does not count among the
agent's five. A code or a refresh token that is sent a second time was stolen: then all tokens of the consent end.
"""

from __future__ import annotations

import base64
import re
import secrets
from collections.abc import Sequence
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any
from urllib.parse import SplitResult, urlsplit
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Q

from agents import tokens
from agents.exceptions import AgentFrozen, AgentNotFound
from agents.models import LABEL_MAX, Agent, AgentToken
from agents.services.tokens import active_agent, end_tokens, issue_token
from kernel.api.ids import is_id
from kernel.database.sql import database_now
from kernel.writes.deletion import delete_in_batches
from kernel.writes.transaction import retried
from messaging.models import Account
from oauth.exceptions import InvalidGrant, InvalidOAuthRequest, InvalidTarget
from oauth.models import URIS_MAX, CodeGrant, OAuthClient, RefreshToken

CODE_TYPE, REFRESH_TYPE = "authorization_code", "refresh_token"
CODE_FOR, ACCESS_FOR, REFRESH_FOR = timedelta(minutes=5), timedelta(hours=1), timedelta(days=30)
UNUSED_CLIENT_FOR = timedelta(days=1)
LOOPBACK = ("127.0.0.1", "localhost", "::1")
CHALLENGE = re.compile(r"[A-Za-z0-9_-]{43}")
VERIFIER = re.compile(r"[A-Za-z0-9._~-]{43,128}")
ENDED = "The program revoked it, or a code or refresh token was used twice."


def resource() -> str:
    return f"{settings.BASE_URL}/mcp"


def require_resource(sent: str) -> None:
    """Raises InvalidTarget (400). Clients add a slash, and some send the origin alone."""
    if sent and sent.rstrip("/") not in {resource(), settings.BASE_URL}:
        raise InvalidTarget


def register(*, redirect_uris: Sequence[str], client_name: str = "") -> OAuthClient:
    """Raises InvalidOAuthRequest (400)."""
    if not 1 <= len(redirect_uris) <= URIS_MAX or not all(map(_is_redirect, redirect_uris)):
        text = "Send 1 to 10 redirect_uris: https, or http on a loopback address, without a fragment."
        raise InvalidOAuthRequest(text, field="redirect_uris")
    name = client_name or urlsplit(redirect_uris[0]).hostname or ""
    return OAuthClient.objects.create(name=name, redirect_uris=list(redirect_uris))


def client_of(client_id: str, redirect_uri: str) -> OAuthClient:
    """The client that registered this address; raises InvalidOAuthRequest (400), and nothing is redirected."""
    client = OAuthClient.objects.filter(pk=client_id).first() if is_id(client_id) else None
    if client is None:
        raise InvalidOAuthRequest("Register the program again: its client_id is unknown.", field="client_id")
    if not any(_is_same(redirect_uri, registered) for registered in client.redirect_uris):
        raise InvalidOAuthRequest("Send a redirect_uri that the program registered.", field="redirect_uri")
    return client


def is_challenge(challenge: str, method: str) -> bool:
    return method == "S256" and CHALLENGE.fullmatch(challenge) is not None


@retried
@transaction.atomic
def consent(*, client: OAuthClient, by: Account, agent_id: UUID, redirect_uri: str, challenge: str) -> str:
    """Returns a code for the client. Raises AgentNotFound (404) for an agent of another person, AgentFrozen (409)."""
    if not Agent.objects.operated_by(by).filter(pk=agent_id).exists():
        raise AgentNotFound
    code = secrets.token_urlsafe(32)
    CodeGrant.objects.create(
        client=client,
        person=by,
        agent=active_agent(agent_id),
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
    """The next tokens; the scope stays that of the agent. Raises InvalidGrant, InvalidTarget (400)."""
    require_resource(resource)
    return _answer_of(_refresh(refresh_token, client_id))


@retried
@transaction.atomic
def revoke(*, token: str, client_id: str) -> None:
    """End all tokens of the consent that the token is from (RFC 7009); an unknown token is no error."""
    digests = tokens.digests(token)
    of_token = Q(refresh_tokens__digest__in=digests) | Q(refresh_tokens__access_token__digest__in=digests)
    found = CodeGrant.objects.filter(of_token).first()
    if found is not None and str(found.client_id) == client_id:
        _end(CodeGrant.objects.select_for_update(of=("self",)).get(pk=found.pk))


def prune(*, now: datetime, dry_run: bool) -> dict[str, int]:
    """Delete or count clients that nobody let in and consents whose refresh tokens have all expired."""
    ended = now - REFRESH_FOR
    grants = CodeGrant.objects.filter(created_at__lt=ended).exclude(refresh_tokens__expires_at__gt=now)
    clients = OAuthClient.objects.filter(created_at__lt=now - UNUSED_CLIENT_FOR, grants=None)
    rows = {"consents of programs": grants, "unused programs": clients}
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
    if found.used_at is not None:
        _end(grant)
        return None
    if found.expires_at <= now:
        return None
    found.used_at = now
    found.save(update_fields=["used_at"])
    return _issue(grant, now)


def _locked(grants: Any, client_id: str) -> CodeGrant | None:
    grant: CodeGrant | None = grants.select_for_update(of=("self",)).select_related("person").first()
    is_own = grant is not None and str(grant.client_id) == client_id and grant.revoked_at is None
    return grant if is_own else None


def _issue(grant: CodeGrant, now: datetime) -> dict[str, Any] | None:
    """None if the agent is stopped, or has another operator by now."""
    try:
        agent = active_agent(grant.agent_id)
    except AgentFrozen:
        return None
    if agent.operator_id != grant.person_id:
        return None
    label = OAuthClient.objects.get(pk=grant.client_id).name[:LABEL_MAX]
    row, value = issue_token(agent, by=grant.person, label=label, lifetime=ACCESS_FOR, expiry_announced_at=now)
    next_refresh = secrets.token_urlsafe(32)
    RefreshToken.objects.create(
        grant=grant, access_token=row, digest=tokens.digest(next_refresh), expires_at=now + REFRESH_FOR
    )
    return {
        "access_token": value,
        "token_type": "Bearer",
        "expires_in": int(ACCESS_FOR.total_seconds()),
        "refresh_token": next_refresh,
        "scope": " ".join(agent.scopes),
    }


def _end(grant: CodeGrant) -> None:
    """The caller has locked the grant."""
    grant.revoked_at = database_now()
    grant.save(update_fields=["revoked_at"])
    issued = AgentToken.objects.filter(refresh_token__grant=grant).active().locked().order_by("id")
    end_tokens(list(issued), by=grant.person, reason=ENDED)


def _answer_of(answer: dict[str, Any] | None) -> dict[str, Any]:
    if answer is None:
        raise InvalidGrant
    return answer


def _s256(verifier: str) -> str:
    return base64.urlsafe_b64encode(sha256(verifier.encode()).digest()).rstrip(b"=").decode()


def _parts(uri: str) -> SplitResult | None:
    try:
        parts = urlsplit(uri)
        _ = parts.port
    except ValueError:
        return None
    return parts


def _is_redirect(uri: str) -> bool:
    parts = _parts(uri)
    if parts is None or not uri.isascii() or not uri.isprintable() or any(sign in uri for sign in " \\#;,'\""):
        return False
    is_loopback = parts.scheme == "http" and parts.hostname in LOOPBACK
    return bool(parts.hostname) and "@" not in parts.netloc and (parts.scheme == "https" or is_loopback)


def _is_same(uri: str, registered: str) -> bool:
    """Equal, except for the port of a loopback address, which programs choose when they listen (RFC 8252)."""
    if uri == registered:
        return True
    one, other = _parts(uri), _parts(registered)
    if one is None or other is None or not _is_redirect(uri) or one.scheme != "http" or one.hostname != other.hostname:
        return False
    return (one.scheme, one.path, one.query) == (other.scheme, other.path, other.query)
