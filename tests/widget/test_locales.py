"""Every language has all texts, with the same placeholders."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from embeds.widget.locales import LANGUAGES, words

ROOT = Path(__file__).resolve().parent.parent.parent
PLACEHOLDER = re.compile(r"\{(\w+)\}")
OTHERS = [language for language in LANGUAGES if language != "en"]
# Plural forms of Unicode by language. "many" (millions) of Romance languages is left out: "other" replaces it.
PLURALS = {"ar": {"zero", "one", "two", "few", "many", "other"}, "ja": {"other"}, "zh": {"other"}}


def entries(language: str) -> Iterator[tuple[str, Any]]:
    for group, texts in words(language).items():
        for name, text in texts.items():
            yield f"{group}.{name}", text


def forms(text: Any) -> dict[str, str]:
    return text if isinstance(text, dict) else {"other": text}


def placeholders(text: Any) -> set[str]:
    return set(PLACEHOLDER.findall(forms(text)["other"]))


def test_there_are_eight_languages() -> None:
    assert set(LANGUAGES) == {"en", "de", "fr", "es", "pt", "ja", "zh", "ar"}


def test_every_language_has_the_keys_and_placeholders_of_english_and_its_plural_forms() -> None:
    english = dict(entries("en"))
    for language in OTHERS:
        texts = dict(entries(language))
        assert texts.keys() == english.keys()
        for key, text in texts.items():
            assert placeholders(text) == placeholders(english[key]), (language, key)
            if isinstance(english[key], dict):
                assert forms(text).keys() == PLURALS.get(language, {"one", "other"}), (language, key)
            assert all(form.strip() for form in forms(text).values()), (language, key)


def test_scripts_and_templates_use_exactly_the_known_keys() -> None:
    scripts = "\n".join(file.read_text() for file in (ROOT / "static" / "embed").rglob("*.js"))
    templates = "\n".join(file.read_text() for file in (ROOT / "templates" / "embed").glob("*.html"))
    used = set(re.findall(r'"((?:panel|tag|signin|error|moderation)\.\w+)"', scripts))
    used |= set(re.findall(r"words\.((?:panel|signin)\.\w+)", templates))
    known = dict(entries("en")).keys()
    assert used - known == set()
    required = {key for key in known if key.startswith(("panel.", "signin.", "moderation."))}
    assert {key for key in required - used if f'"{key.partition(".")[2]}"' not in scripts} == set()
