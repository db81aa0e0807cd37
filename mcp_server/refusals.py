"""Refusals of the API in the words of a tool: its arguments instead of fields and parameters, tools instead of
addresses."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

# Texts in the messages of the API, and what they are for every tool.
TEXTS = {
    "GET /v1/smart-tags": "the tool reference",
    "GET /v1/communities": "the tool reference",
    "GET /api/messages?pageId=": "the tool read_page",
    "Use the reactionId that POST /v1/reactions returned": "Call the tool again",
    "Get the id of the page from POST /v1/presence/normalize-url with its URL, and send it as pageId": (
        "Send the URL of the page as url"
    ),
}
# The first step of a JSON path such as `attachments[3].url`, and of a pointer such as `/payload/rating`.
HEAD = re.compile(r"[^.\[]+")
POINTER_HEAD = re.compile(r"^[?/]([^/]+)")


def in_words_of_tool(body: Mapping[str, Any], arguments: Mapping[str, str], texts: Mapping[str, str]) -> dict[str, Any]:
    """The body of a refusal. `arguments` maps the names in the API to arguments, `texts` parts of its messages."""
    translated = dict(body)
    if isinstance(body.get("message"), str):
        translated["message"] = _text(body["message"], arguments, texts)
    if isinstance(body.get("field"), str):
        translated["field"] = HEAD.sub(lambda found: arguments.get(found[0], found[0]), body["field"], count=1)
    if "details" in body:
        translated["details"] = [
            {
                "pointer": POINTER_HEAD.sub(lambda found: f"/{arguments.get(found[1], found[1])}", detail["pointer"]),
                "message": _text(detail["message"], arguments, texts),
            }
            for detail in body["details"]
        ]
    return translated


def _text(message: str, arguments: Mapping[str, str], texts: Mapping[str, str]) -> str:
    for text, replacement in {**texts, **TEXTS}.items():
        message = message.replace(text, replacement)
    for name, argument in arguments.items():
        message = message.replace(f"`{name}`", f"`{argument}`")
        # A single letter may be a word, or a part of what the client sent.
        if len(name) > 1:
            message = re.sub(rf"\b{re.escape(name)}\b", argument, message)
    return message
