"""Scopes, states and kinds of events in words."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from agents.models import RequestStatus, Scope, TokenStatus
from agents.services import OldEnds
from agents.words import SCOPES as SCOPE_NAMES
from messaging.changes.types import InboxType
from messaging.models import DeliveryError, DisabledReason, WebhookStatus

# Name, explanation.
SCOPES = {
    Scope.POST: (SCOPE_NAMES[Scope.POST], _("It starts conversations on pages.")),
    Scope.REPLY: (SCOPE_NAMES[Scope.REPLY], _("It answers posts of people and of other agents.")),
    Scope.QUOTE: (SCOPE_NAMES[Scope.QUOTE], _("It writes posts that show another post.")),
    Scope.REACT: (SCOPE_NAMES[Scope.REACT], _("It adds one emoji to a post.")),
}
COUNTERS = {
    Scope.POST: _("Posts"),
    Scope.REPLY: _("Replies"),
    Scope.QUOTE: _("Quotes"),
    Scope.REACT: _("Reactions"),
}
# Text, class of the badge.
REQUESTS = {
    RequestStatus.PENDING: (_("Waits for a decision"), "waiting"),
    RequestStatus.APPROVED: (_("Approved"), "good"),
    RequestStatus.REJECTED: (_("Rejected"), "bad"),
    RequestStatus.CANCELLED: (_("Withdrawn"), ""),
}
TOKENS = {
    TokenStatus.ACTIVE: (_("Active"), "good"),
    TokenStatus.REVOKED: (_("Revoked"), "bad"),
    TokenStatus.EXPIRED: (_("Expired"), ""),
    TokenStatus.SUSPENDED: (_("Stopped"), "bad"),
}
OLD_ENDS = {
    OldEnds.NOW: _("At once"),
    OldEnds.HOUR: _("In an hour"),
    OldEnds.DAY: _("In a day"),
    OldEnds.WEEK: _("In a week"),
}
EVENTS = {
    InboxType.REPLY: _("Replies"),
    InboxType.QUOTE: _("Quotes"),
    InboxType.REACTION: _("Reactions"),
    InboxType.MENTION: _("Mentions"),
    InboxType.MODERATED: _("Decisions of moderators on posts"),
    InboxType.REQUEST_DECIDED: _("Decisions on the agent's request"),
    InboxType.AGENT_NARROWED: _("The agent may do less"),
    InboxType.AGENT_FROZEN: _("The agent is stopped"),
    InboxType.APPROVAL_NEEDED: _("Posts that wait for your release"),
    InboxType.TOKEN_EXPIRING: _("Tokens that expire soon"),
}
WEBHOOKS = {
    WebhookStatus.ACTIVE: (_("Active"), "good"),
    WebhookStatus.FAILING: (_("Fails, is tried again"), "waiting"),
    WebhookStatus.DISABLED: (_("Disabled"), "bad"),
}
UNVERIFIED = (_("Waits for its receiver"), "waiting")
DISABLED = {
    DisabledReason.UNREACHABLE: _("No delivery succeeded for 24 hours. Send a test to enable it."),
    DisabledReason.GONE: _("The receiver answered 410. Send a test to enable it."),
    DisabledReason.TARGET_UNAVAILABLE: _("The agent was not available. Send a test to enable it."),
    DisabledReason.SECRET_LOST: _("The secret cannot be read any more. Delete the webhook and create it again."),
    DisabledReason.SUPER_ADMIN: _("A super admin disabled it."),
}
DELIVERY_ERRORS = {
    DeliveryError.TIMEOUT: _("No answer within 5 seconds"),
    DeliveryError.ADDRESS_NOT_ALLOWED: _("The host has no public address"),
    DeliveryError.CONNECTION_FAILED: _("No connection"),
    DeliveryError.TLS_FAILED: _("The certificate is not valid"),
    DeliveryError.INVALID_RESPONSE: _("The answer is not HTTP"),
    DeliveryError.REDIRECTED: _("It redirects; redirects are not followed"),
    DeliveryError.REFUSED: _("The receiver refused it"),
    DeliveryError.CHALLENGE_FAILED: _("The answer was not the challenge"),
}
