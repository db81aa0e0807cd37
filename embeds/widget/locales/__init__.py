"""The texts of the widget, one JSON file per language. All files have the same keys as `en.json`."""

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
    """Return the texts of one of LANGUAGES by group: {"loader": {...}, "panel": {...}, ...}."""
    words: dict[str, Any] = json.loads((FOLDER / f"{language}.json").read_text(encoding="utf-8"))
    return words


def pick_language(requested: str | None, accept_language: str = "") -> str:
    """Return the first available language: the requested one, then those of Accept-Language, then English."""
    for tag in (requested or "", *_by_preference(accept_language)):
        language = tag.strip().replace("_", "-").partition("-")[0].lower()
        if language in LANGUAGES:
            return language
    return DEFAULT_LANGUAGE


def direction(language: str) -> str:
    return "rtl" if language in RIGHT_TO_LEFT else "ltr"


def _by_preference(accept_language: str) -> list[str]:
    """Return the tags of an Accept-Language header by descending weight. Tags with an invalid weight are ignored."""
    weighted = []
    for part in accept_language.split(",")[:20]:
        tag, _, weight = part.partition(";q=")
        try:
            weighted.append((-float(weight or 1), tag))
        except ValueError:
            continue
    return [tag for _, tag in sorted(weighted, key=lambda pair: pair[0])]
