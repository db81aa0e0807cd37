from agents.services.agents import freeze_agent, narrow_agent, unfreeze_agent
from agents.services.deletion import delete_agent
from agents.services.expiry import announce_expiring_tokens
from agents.services.requests import approve_request, cancel_request, readable_request, reject_request, request_agent
from agents.services.rotation import OldEnds, rotate_token
from agents.services.tokens import (
    create_token,
    require_revocable,
    revoke_agent_tokens,
    revoke_token,
    revoke_tokens,
)
from agents.services.undoing import UNDO_SECONDS, undo_decision

__all__ = [
    "UNDO_SECONDS",
    "OldEnds",
    "announce_expiring_tokens",
    "approve_request",
    "cancel_request",
    "create_token",
    "delete_agent",
    "freeze_agent",
    "narrow_agent",
    "readable_request",
    "reject_request",
    "request_agent",
    "require_revocable",
    "revoke_agent_tokens",
    "revoke_token",
    "revoke_tokens",
    "rotate_token",
    "undo_decision",
    "unfreeze_agent",
]
