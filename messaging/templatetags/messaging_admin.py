from __future__ import annotations

from django import template

from messaging.admin.formatting import post_badge, version_text
from messaging.models import Message, MessageVersion

register = template.Library()


@register.simple_tag
def post_state(message: Message) -> str:
    return post_badge(message)


@register.simple_tag
def version_content(version: MessageVersion) -> str:
    return version_text(version)
