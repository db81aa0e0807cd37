"""The texts of the widget, one JSON file per language. All files have the same keys as `en.json`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from django.utils.translation.trans_real import parse_accept_lang_header

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
    accepted = parse_accept_lang_header(accept_language.lower())
    for tag in (requested or "", *(tag for tag, _weight in accepted)):
        language = tag.strip().replace("_", "-").partition("-")[0].lower()
        if language in LANGUAGES:
            return language
    return DEFAULT_LANGUAGE


def direction(language: str) -> str:
    return "rtl" if language in RIGHT_TO_LEFT else "ltr"
