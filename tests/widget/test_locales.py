"""Every language says everything, with the same blanks to fill in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from embeds.widget.locales import LANGUAGES, words

ROOT = Path(__file__).resolve().parent.parent.parent
BLANK = re.compile(r"\{(\w+)\}")
OTHERS = [language for language in LANGUAGES if language != "en"]
# What the Unicode plural rules of a language tell apart, apart from millions in Romance languages ("other" serves).
PLURALS = {"ar": {"zero", "one", "two", "few", "many", "other"}, "ja": {"other"}, "zh": {"other"}}


def entries(language: str) -> Iterator[tuple[str, Any]]:
    for group, texts in words(language).items():
        for name, text in texts.items():
            yield f"{group}.{name}", text


def forms(text: Any) -> dict[str, str]:
    return text if isinstance(text, dict) else {"other": text}


def test_the_languages() -> None:
    assert set(LANGUAGES) == {"en", "de", "fr", "es", "pt", "ja", "zh", "ar"}


@pytest.mark.parametrize("language", OTHERS)
def test_nothing_is_missing_and_nothing_left_over(language: str) -> None:
    assert dict(entries(language)).keys() == dict(entries("en")).keys()


@pytest.mark.parametrize("language", OTHERS)
def test_blanks_and_plurals(language: str) -> None:
    english = dict(entries("en"))
    for key, text in entries(language):
        assert set(BLANK.findall(forms(text)["other"])) == set(BLANK.findall(forms(english[key])["other"])), key
        if isinstance(english[key], dict):
            assert forms(text).keys() == PLURALS.get(language, {"one", "other"}), key
        assert all(form.strip() for form in forms(text).values()), key


def test_every_word_is_used_and_every_used_word_is_there() -> None:
    scripts = "\n".join(file.read_text() for file in (ROOT / "static" / "embed").rglob("*.js"))
    templates = "\n".join(file.read_text() for file in (ROOT / "templates" / "embed").glob("*.html"))
    used = set(re.findall(r'"((?:panel|tag|signin|error)\.\w+)"', scripts))
    used |= set(re.findall(r"words\.((?:panel|signin)\.\w+)", templates))
    known = dict(entries("en")).keys()
    assert used - known == set()
    named = {key for key in known if key.startswith(("panel.", "signin."))}
    assert {key for key in named - used if f'"{key.partition(".")[2]}"' not in scripts} == set()
