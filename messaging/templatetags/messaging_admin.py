from __future__ import annotations

from django import template

from messaging.admin.formatting import post_badge
from messaging.models import Message

register = template.Library()


@register.simple_tag
def post_state(message: Message) -> str:
    return post_badge(message)
