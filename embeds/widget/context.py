"""Template contexts of the pages, with the JSON data of their scripts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.http import HttpRequest

from embeds.models import Embed
from embeds.widget.assets import Scheme, panel_script, panel_styles
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


def panel(embed: Embed, words: Mapping[str, Any], scheme: Scheme) -> dict[str, Any]:
    accent = embed.trigger_config["color"]
    panel_settings = {
        "serviceId": str(embed.pk),
        "accent": accent,
        "pollSeconds": POLL_SECONDS,
        "streamUrl": settings.STREAM_URL,
    }
    data = _data(words, "panel", "tag", settings=panel_settings)
    return {"data": data, "script": panel_script().digest, "styles": panel_styles(scheme).digest}


def sign_in(words: Mapping[str, Any]) -> dict[str, Any]:
    return {"data": _data(words, "panel", "signin", settings={"serviceId": None})}


def _data(words: Mapping[str, Any], *groups: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    return {"words": {group: words[group] for group in (*groups, "error")}, "settings": settings}
