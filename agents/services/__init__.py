from agents.services.agents import UNDO_SECONDS, delete_agent, freeze_agent, narrow_agent, undo_decision, unfreeze_agent
from agents.services.drafts import drafts_of, reject_draft, release_draft, set_review
from agents.services.requests import (
    approve_request,
    cancel_request,
    readable_request,
    reject_request,
    request_agent,
    request_widening,
)
from agents.services.tokens import (
    OldEnds,
    announce_expiring_tokens,
    create_token,
    require_revocable,
    revoke_agent_tokens,
    revoke_token,
    revoke_tokens,
    rotate_token,
)

__all__ = [
    "UNDO_SECONDS",
    "OldEnds",
    "announce_expiring_tokens",
    "approve_request",
    "cancel_request",
    "create_token",
    "delete_agent",
    "drafts_of",
    "freeze_agent",
    "narrow_agent",
    "readable_request",
    "reject_draft",
    "reject_request",
    "release_draft",
    "request_agent",
    "request_widening",
    "require_revocable",
    "revoke_agent_tokens",
    "revoke_token",
    "revoke_tokens",
    "rotate_token",
    "set_review",
    "undo_decision",
    "unfreeze_agent",
]
