"""What the templates and scripts of the pages are given."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.templatetags.static import static

from embeds.models import Embed
from embeds.widget.locales import direction, pick_language, words

POLL_SECONDS = 30
PANEL_SCRIPTS = "embed/panel"
DARK_INK, LIGHT_INK = "#000", "#fff"


def language(request: HttpRequest) -> dict[str, Any]:
    """`lang`, `dir` and the words of the language asked for, or of the browser's."""
    picked = pick_language(request.GET.get("lang"), request.headers.get("Accept-Language", ""))
    return {"lang": picked, "dir": direction(picked), "words": words(picked)}


def panel(embed: Embed, words: Mapping[str, Any]) -> dict[str, Any]:
    accent = embed.trigger_config["color"]
    shown = {
        "serviceId": str(embed.pk),
        "accent": accent,
        "onAccent": ink_on(accent),
        "pollSeconds": POLL_SECONDS,
    }
    return {"data": _data(words, "panel", "tag", settings=shown), "scripts": panel_scripts()}


def sign_in(words: Mapping[str, Any]) -> dict[str, Any]:
    return {"data": _data(words, "panel", "signin", settings={"serviceId": None})}


def ink_on(color: str) -> str:
    """Black or white, whichever stands out more on `#rgb` or `#rrggbb` (WCAG 2 relative luminance)."""
    digits = color[1:]
    parts = [digits[at] * 2 for at in range(3)] if len(digits) == 3 else [digits[at : at + 2] for at in (0, 2, 4)]
    shares = [int(part, 16) / 255 for part in parts]
    light = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in shares]
    luminance = 0.2126 * light[0] + 0.7152 * light[1] + 0.0722 * light[2]
    return DARK_INK if luminance > 0.179 else LIGHT_INK


@cache
def panel_scripts() -> list[str]:
    """Addresses of the panel's modules, told ahead so that the browser fetches them at once."""
    folder = Path(settings.BASE_DIR) / "static" / PANEL_SCRIPTS
    return [static(f"{PANEL_SCRIPTS}/{file.name}") for file in sorted(folder.glob("*.js"))]


def _data(words: Mapping[str, Any], *groups: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    return {"words": {group: words[group] for group in (*groups, "error")}, "settings": settings}
