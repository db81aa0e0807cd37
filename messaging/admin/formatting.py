from __future__ import annotations

from django.utils.safestring import SafeString

from config.admin.formatting import badge
from messaging.models import Message, MessageStatus

POST_BADGES = {MessageStatus.PUBLISHED: "good", MessageStatus.PENDING: "waiting", MessageStatus.HIDDEN: "bad"}


def post_badge(message: Message) -> SafeString:
    return badge(message.status, POST_BADGES.get(MessageStatus(message.status), ""))
