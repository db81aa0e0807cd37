"""The admin of messaging: moderation, communities and their word lists, accounts, webhooks, and log entries."""

from messaging.admin.accounts import AccountAdmin
from messaging.admin.communities import CommunityAdmin
from messaging.admin.desk.jobs import BulkJobAdmin
from messaging.admin.log_entries import LogEntryAdmin
from messaging.admin.messages import MessageAdmin
from messaging.admin.ready_reasons import ReadyReasonAdmin
from messaging.admin.sign_ins import SignInAdmin
from messaging.admin.webhooks import WebhookAdmin

__all__ = [
    "AccountAdmin",
    "BulkJobAdmin",
    "CommunityAdmin",
    "LogEntryAdmin",
    "MessageAdmin",
    "ReadyReasonAdmin",
    "SignInAdmin",
    "WebhookAdmin",
]
