from messaging.models.account import Account, AccountKind, HandleClaim
from messaging.models.community import Community, PreModeration
from messaging.models.message import Message, MessageStatus
from messaging.models.page import MovedPage, Page

__all__ = [
    "Account",
    "AccountKind",
    "Community",
    "HandleClaim",
    "Message",
    "MessageStatus",
    "MovedPage",
    "Page",
    "PreModeration",
]
