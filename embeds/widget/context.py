"""Template contexts of the pages, with the JSON data of their scripts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.http import HttpRequest

from embeds.models import Embed
from embeds.widget.assets import panel_script, panel_styles
from embeds.widget.locales import direction, pick_language, words

# How often a client without a stream asks for changes, on average.
POLL_SECONDS = 30
DARK_INK, LIGHT_INK = "#000", "#fff"


def language(request: HttpRequest) -> dict[str, Any]:
    """Return `lang`, `dir` and `words` of the language of `?lang=` or Accept-Language."""
    lang = pick_language(request.GET.get("lang"), request.headers.get("Accept-Language", ""))
    return {"lang": lang, "dir": direction(lang), "words": words(lang)}


def panel(embed: Embed, words: Mapping[str, Any]) -> dict[str, Any]:
    accent = embed.trigger_config["color"]
    panel_settings = {
        "serviceId": str(embed.pk),
        "accent": accent,
        "onAccent": ink_on(accent),
        "pollSeconds": POLL_SECONDS,
        "streamUrl": settings.STREAM_URL,
        "editMinutes": settings.EDIT_MINUTES,
    }
    data = _data(words, "panel", "tag", settings=panel_settings)
    return {"data": data, "script": panel_script().digest, "styles": panel_styles().digest}


def sign_in(words: Mapping[str, Any]) -> dict[str, Any]:
    return {"data": _data(words, "panel", "signin", settings={"serviceId": None})}


def ink_on(color: str) -> str:
    """Return black or white: the one with more contrast on `#rgb` or `#rrggbb` (WCAG 2 relative luminance)."""
    digits = color[1:]
    parts = [digits[at] * 2 for at in range(3)] if len(digits) == 3 else [digits[at : at + 2] for at in (0, 2, 4)]
    channels = [int(part, 16) / 255 for part in parts]
    linear = [channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4 for channel in channels]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return DARK_INK if luminance > 0.179 else LIGHT_INK


def _data(words: Mapping[str, Any], *groups: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    return {"words": {group: words[group] for group in (*groups, "error")}, "settings": settings}
