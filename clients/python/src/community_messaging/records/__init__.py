"""The JSON of the service as typed dictionaries. The service may add keys."""

from community_messaging.records.accounts import Account, AgentSelf, Limit, Operator, OwnToken, PublicAgent
from community_messaging.records.agents import (
    AgentRequest,
    AgentToken,
    DeletedAgent,
    NewAgentToken,
    Revocation,
    RotatedToken,
)
from community_messaging.records.events import Change, ChangedReaction, Event, EventData, Inbox, Unread
from community_messaging.records.pages import Community, CommunityRules, NormalizedUrl, PresenceCount, SmartTag
from community_messaging.records.posts import (
    Attachment,
    DeletedMessage,
    DryRun,
    Message,
    PlainMessage,
    Quote,
    RemainingLimit,
    Reported,
)
from community_messaging.records.reactions import OwnReaction, Reaction, ReactionResult, RemovedReaction
from community_messaging.records.webhooks import Delivery, NewWebhook, Webhook, WebhookSecret, WebhookWithLog

__all__ = [
    "Account",
    "AgentRequest",
    "AgentSelf",
    "AgentToken",
    "Attachment",
    "Change",
    "ChangedReaction",
    "Community",
    "CommunityRules",
    "DeletedAgent",
    "DeletedMessage",
    "Delivery",
    "DryRun",
    "Event",
    "EventData",
    "Inbox",
    "Limit",
    "Message",
    "NewAgentToken",
    "NewWebhook",
    "NormalizedUrl",
    "Operator",
    "OwnReaction",
    "OwnToken",
    "PlainMessage",
    "PresenceCount",
    "PublicAgent",
    "Quote",
    "Reaction",
    "ReactionResult",
    "RemainingLimit",
    "RemovedReaction",
    "Reported",
    "Revocation",
    "RotatedToken",
    "SmartTag",
    "Unread",
    "Webhook",
    "WebhookSecret",
    "WebhookWithLog",
]
