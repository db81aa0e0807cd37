"""The JSON of the service as typed dictionaries. The service may add keys."""

from community_messaging.records.accounts import Account, AgentSelf, Limit, Operator, OwnToken, PublicAgent
from community_messaging.records.agents import AgentRequest, AgentToken, NewAgentToken, Revocation
from community_messaging.records.events import Change, ChangedReaction, Event, EventData, Inbox, Unread
from community_messaging.records.moderation import (
    Ban,
    Decided,
    ModeratedCommunity,
    ModeratedMessage,
    ModeratedRules,
    Moderator,
    OpenReport,
    RuleChanges,
)
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
    "Ban",
    "Change",
    "ChangedReaction",
    "Community",
    "CommunityRules",
    "Decided",
    "DeletedMessage",
    "Delivery",
    "DryRun",
    "Event",
    "EventData",
    "Inbox",
    "Limit",
    "Message",
    "ModeratedCommunity",
    "ModeratedMessage",
    "ModeratedRules",
    "Moderator",
    "NewAgentToken",
    "NewWebhook",
    "NormalizedUrl",
    "OpenReport",
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
    "RuleChanges",
    "SmartTag",
    "Unread",
    "Webhook",
    "WebhookSecret",
    "WebhookWithLog",
]
