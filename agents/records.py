"""How requests, tokens and agents look in answers."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from agents.models import Agent, AgentRequest, AgentToken
from config.api.credentials import Credential
from config.writes.rate_limits import RateLimitUsage
from messaging.accounts import account_record


def request_record(request: AgentRequest) -> dict[str, Any]:
    """What was asked for, by whom, and what became of it."""
    return {
        "id": request.pk,
        "status": request.status,
        "agentName": request.agent_name,
        "agentHandle": request.agent_handle,
        "purpose": request.purpose,
        "website": request.website or None,
        "scopes": request.scopes,
        "communityIds": request.community_ids,
        "requester": account_record(request.requester),
        "agent": account_record(request.agent.account) if request.agent else None,
        "decidedBy": account_record(request.decided_by) if request.decided_by else None,
        "decidedAt": request.decided_at,
        "reason": request.reason or None,
        "createdAt": request.created_at,
    }


def token_record(token: AgentToken) -> dict[str, Any]:
    """A token as lists show it: never the value; scopes and communities are its agent's of this moment."""
    return {
        "id": token.pk,
        "prefix": token.prefix,
        "label": token.label,
        "status": token.status,
        "agent": account_record(token.agent.account),
        "scopes": token.agent.scopes,
        "communityIds": token.agent.community_ids,
        "createdAt": token.created_at,
        "expiresAt": token.expires_at,
        "lastUsedAt": token.last_used_at,
        "revokedAt": token.revoked_at,
        "revokeReason": token.revoke_reason or None,
    }


def new_token_record(token: AgentToken, value: str) -> dict[str, Any]:
    """The one answer that carries the token itself."""
    return {"token": value, "tokenId": token.pk, "prefix": token.prefix, "expiresAt": token.expires_at}


def revocation_record(token: AgentToken, *, now_revoked: bool) -> dict[str, Any]:
    return {"revoked": True} if now_revoked else {"revoked": False, "alreadyRevokedAt": token.revoked_at}


def self_record(agent: Agent, *, credential: Credential, usages: list[RateLimitUsage], now: datetime) -> dict[str, Any]:
    """Who a token acts for, what it may do, and how much of it is left this hour."""
    return {
        "account": account_record(agent.account),
        "operator": account_record(agent.operator),
        "scopes": agent.scopes,
        "communityIds": agent.community_ids,
        "token": _own_token(credential),
        "limits": {usage.name: _limit_record(usage, now) for usage in usages},
    }


def _limit_record(usage: RateLimitUsage, now: datetime) -> dict[str, Any]:
    resets_at = now + timedelta(seconds=usage.reset) if usage.remaining < usage.limit else None
    return {"limit": usage.limit, "remaining": usage.remaining, "resetsAt": resets_at}


def _own_token(credential: Credential) -> dict[str, Any]:
    return {"id": credential.token_id, "prefix": credential.token_prefix, "expiresAt": credential.expires_at}
