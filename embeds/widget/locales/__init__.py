"""Every word of the widget, one JSON file a language; English is the reference that the others must match."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
DEFAULT_LANGUAGE = "en"
LANGUAGES = tuple(sorted(file.stem for file in FOLDER.glob("*.json")))
RIGHT_TO_LEFT = frozenset({"ar"})


@cache
def words(language: str) -> Mapping[str, Any]:
    """The words of one of LANGUAGES, as groups: {"loader": {...}, "panel": {...}, ...}."""
    words: dict[str, Any] = json.loads((FOLDER / f"{language}.json").read_text(encoding="utf-8"))
    return words


def pick_language(wanted: str | None, accept_language: str = "") -> str:
    """The first language that we speak: the one asked for, then the browser's, then English."""
    for tag in (wanted or "", *_by_preference(accept_language)):
        language = tag.strip().replace("_", "-").partition("-")[0].lower()
        if language in LANGUAGES:
            return language
    return DEFAULT_LANGUAGE


def direction(language: str) -> str:
    return "rtl" if language in RIGHT_TO_LEFT else "ltr"


def _by_preference(accept_language: str) -> list[str]:
    """The tags of an Accept-Language header, most wanted first. What has no valid weight comes last."""
    weighed = []
    for part in accept_language.split(",")[:20]:
        tag, _, weight = part.partition(";q=")
        try:
            weighed.append((-float(weight or 1), tag))
        except ValueError:
            continue
    return [tag for _, tag in sorted(weighed, key=lambda pair: pair[0])]
