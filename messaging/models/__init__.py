from messaging.models.account import Account, AccountKind, HandleClaim
from messaging.models.community import Community, Embedding, PreModeration
from messaging.models.derived import CommunityCount, PageCommunityCount, PageCount, Rendering, SearchEntry
from messaging.models.desk import BulkJob, ChangedRow, JobState, SavedList
from messaging.models.erased_handle import ErasedHandle, ErasedHandleKey
from messaging.models.message import Message, MessageStatus
from messaging.models.message_version import MessageVersion
from messaging.models.moderation import Act, Ban, ClosedPage, Decision, HiddenHere, Moderator, Pin
from messaging.models.page import MovedPage, Page
from messaging.models.panel_session import PanelSession
from messaging.models.personal_data import (
    AccountRecord,
    AccountRecordPart,
    Archive,
    ExportStatus,
    PersonErasure,
    PersonExport,
    PersonExportPart,
    PostsChoice,
)
from messaging.models.ready_reason import ReadyReason, ReasonFor
from messaging.models.report import Report, ReportReason
from messaging.models.sign_in import Door, Factor, SignIn
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
    "AccountRecord",
    "AccountRecordPart",
    "Act",
    "Archive",
    "Ban",
    "BulkJob",
    "ChangedRow",
    "ClosedPage",
    "Community",
    "CommunityCount",
    "Decision",
    "DeliveryError",
    "DisabledReason",
    "Door",
    "Embedding",
    "ErasedHandle",
    "ErasedHandleKey",
    "ExportStatus",
    "Factor",
    "HandleClaim",
    "HiddenHere",
    "JobState",
    "Message",
    "MessageStatus",
    "MessageVersion",
    "Moderator",
    "MovedPage",
    "Page",
    "PageCommunityCount",
    "PageCount",
    "PanelSession",
    "PersonErasure",
    "PersonExport",
    "PersonExportPart",
    "Pin",
    "PostsChoice",
    "PreModeration",
    "ReadyReason",
    "ReasonFor",
    "Rendering",
    "Report",
    "ReportReason",
    "SavedList",
    "SearchEntry",
    "SignIn",
    "Webhook",
    "WebhookDelivery",
    "WebhookStatus",
    "WebhookTarget",
]
