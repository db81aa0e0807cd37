from __future__ import annotations

from django import template

from messaging.models import Message, MessageVersion
from messaging.moderation.lists.lists import post_badge, version_text

register = template.Library()


@register.simple_tag
def post_state(message: Message) -> str:
    return post_badge(message)


@register.simple_tag
def version_content(version: MessageVersion) -> str:
    return version_text(version)
