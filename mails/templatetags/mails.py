"""Filters of the mails."""

from __future__ import annotations

from django import template

register = template.Library()


@register.filter
def indented(text: str) -> str:
    """The text of a post, marked as in answers to mails."""
    return "\n".join(f"> {line}".rstrip() for line in text.splitlines())
