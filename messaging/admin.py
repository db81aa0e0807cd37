"""The admin of messaging: moderation, communities and their word lists, accounts, webhooks, and log entries."""

from messaging.accounts.admin import AccountAdmin, SignInAdmin
from messaging.communities.admin import CommunityAdmin
from messaging.moderation.admin import ReadyReasonAdmin
from messaging.moderation.lists.jobs import BulkJobAdmin
from messaging.moderation.lists.log_entries import LogEntryAdmin
from messaging.posts.admin import MessageAdmin
from messaging.webhooks.admin import WebhookAdmin

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
