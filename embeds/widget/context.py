"""Template contexts of the pages, with the JSON data of their scripts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse

from embeds.models import Embed
from embeds.widget.assets import (
    Asset,
    Scheme,
    emoji_names,
    later_script,
    markdown_script,
    moderation_script,
    panel_script,
    panel_styles,
    picker_script,
)
from embeds.widget.ink import ink_on
from embeds.widget.locales import direction, pick_language, words

# How often a client without a stream asks for changes, on average.
POLL_SECONDS = 30


def language(request: HttpRequest) -> dict[str, Any]:
    """Return `lang`, `dir` and `words` of the language of `?lang=` or Accept-Language."""
    lang = pick_language(request.GET.get("lang"), request.headers.get("Accept-Language", ""))
    return {"lang": lang, "dir": direction(lang), "words": words(lang)}


def scheme(request: HttpRequest) -> Scheme:
    """Return the colours of `?theme=`; without it, the browser chooses."""
    match request.GET.get("theme"):
        case "light":
            return "light"
        case "dark":
            return "dark"
    return "auto"


def form(request: HttpRequest) -> dict[str, Any]:
    """Return how the panel is shown: in which colours, whether a site changes them, and whether inside a page."""
    return {
        "scheme": scheme(request),
        "is_themed": request.GET.get("theme") == "site",
        "is_inline": request.GET.get("mode") == "inline",
    }


def panel(embed: Embed, chosen: Mapping[str, Any], *, has_session: bool) -> dict[str, Any]:
    """`chosen`: what `language` and `form` return."""
    lang = chosen["lang"]
    accent = embed.trigger_config["color"]
    panel_settings = {
        "serviceId": str(embed.pk),
        "communityId": str(embed.community_id),
        "accent": accent,
        "onAccent": ink_on(accent),
        "pollSeconds": POLL_SECONDS,
        "streamUrl": settings.STREAM_URL,
        "hasSession": has_session,
        "laterUrl": _address("later-script", later_script()),
        "moderationUrl": _address("moderation-script", moderation_script(lang), lang),
        "markdownUrl": _address("markdown-script", markdown_script()),
        "pickerUrl": _address("picker-script", picker_script()),
        "emojiUrl": _address("emoji-names", emoji_names(lang), lang),
        "editMinutes": settings.EDIT_MINUTES,
    }
    data = _data(chosen["words"], "panel", "tag", settings=panel_settings)
    digests = {"script": panel_script().digest, "styles": panel_styles(chosen["scheme"]).digest}
    return {"data": data, "has_session": has_session, **digests}


def sign_in(words: Mapping[str, Any]) -> dict[str, Any]:
    return {"data": _data(words, "panel", "signin", settings={"serviceId": None})}


def _address(name: str, asset: Asset, *arguments: str) -> str:
    return f"{reverse(name, args=arguments)}?v={asset.digest}"


def _data(words: Mapping[str, Any], *groups: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    return {"words": {group: words[group] for group in (*groups, "error")}, "settings": settings}
