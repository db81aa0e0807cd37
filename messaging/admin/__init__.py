"""Messaging on the super admins' desk: moderation, communities and their word lists, accounts, and the history."""

from messaging.admin.accounts import AccountAdmin
from messaging.admin.communities import CommunityAdmin
from messaging.admin.log_entries import LogEntryAdmin
from messaging.admin.messages import MessageAdmin

__all__ = ["AccountAdmin", "CommunityAdmin", "LogEntryAdmin", "MessageAdmin"]
