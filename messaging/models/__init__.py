from messaging.models.account import Account, AccountKind, HandleClaim
from messaging.models.community import Community, PreModeration
from messaging.models.derived import CommunityCount, PageCount, SearchEntry
from messaging.models.message import Message, MessageStatus, MessageVersion
from messaging.models.moderation import Act, Ban, Decision, Moderator
from messaging.models.page import MovedPage, Page
from messaging.models.panel_session import PanelSession
from messaging.models.report import Report, ReportReason
from messaging.models.webhook import (
    DeliveryError,
    DisabledReason,
    Webhook,
    WebhookDelivery,
    WebhookStatus,
    WebhookTarget,
)

__all__ = [
    "Account",
    "AccountKind",
    "Act",
    "Ban",
    "Community",
    "CommunityCount",
    "Decision",
    "DeliveryError",
    "DisabledReason",
    "HandleClaim",
    "Message",
    "MessageStatus",
    "MessageVersion",
    "Moderator",
    "MovedPage",
    "Page",
    "PageCount",
    "PanelSession",
    "PreModeration",
    "Report",
    "ReportReason",
    "SearchEntry",
    "Webhook",
    "WebhookDelivery",
    "WebhookStatus",
    "WebhookTarget",
]
