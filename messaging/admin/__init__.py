"""The admin of messaging: moderation, communities and their word lists, accounts, webhooks, and log entries."""

from messaging.admin.accounts import AccountAdmin
from messaging.admin.communities import CommunityAdmin
from messaging.admin.desk.jobs import BulkJobAdmin
from messaging.admin.log_entries import LogEntryAdmin
from messaging.admin.messages import MessageAdmin
from messaging.admin.webhooks import WebhookAdmin

__all__ = ["AccountAdmin", "BulkJobAdmin", "CommunityAdmin", "LogEntryAdmin", "MessageAdmin", "WebhookAdmin"]
