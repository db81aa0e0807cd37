from __future__ import annotations

from django.utils.safestring import SafeString

from kernel.admin.formatting import NOTHING, as_fields, badge, lines, plain
from messaging.models import Message, MessageStatus, MessageVersion

POST_BADGES = {MessageStatus.PUBLISHED: "good", MessageStatus.PENDING: "waiting", MessageStatus.HIDDEN: "bad"}
IN_HIDDEN_THREAD = "published, in a hidden thread"


def post_badge(message: Message) -> SafeString:
    if message.status == MessageStatus.PUBLISHED and message.in_hidden_thread:
        return badge(IN_HIDDEN_THREAD, "bad")
    return badge(message.status, POST_BADGES.get(MessageStatus(message.status), ""))


def version_text(version: MessageVersion) -> str | SafeString:
    """The fields of a version that are not empty; the text without its name."""
    content = dict(version.content)
    parts = [plain(content.pop("content", ""))]
    parts += [lines([name.replace("_", " "), as_fields(value)]) for name, value in content.items() if value]
    return lines([part for part in parts if part != NOTHING])
