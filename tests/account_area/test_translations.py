"""The catalogs of the pages and mails are complete. `make translations` collects and compiles."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import polib
import pytest
from django.conf import settings

LOCALE = Path(settings.LOCALE_PATHS[0])
SOURCES = (
    *("account_area", "agents", "config", "embeds", "kernel", "mails", "messaging", "moving", "reactions"),
    "templates",
)
PLACEHOLDER = re.compile(r"%\(\w+\)[sd]|%[sd]|\{\w*\}")
LANGUAGES = ["ar", "de", "es", "fr", "ja", "pt", "zh_Hans"]
MEND = "Run `make translations`, and translate the new texts in locale/*/LC_MESSAGES/django.po."


def catalog(language: str) -> polib.POFile:
    return polib.pofile(str(LOCALE / language / "LC_MESSAGES" / "django.po"))


def identity(entry: polib.POEntry) -> tuple[str, str, str]:
    return entry.msgctxt or "", entry.msgid, entry.msgid_plural


def placeholders(text: str) -> list[str]:
    return sorted(PLACEHOLDER.findall(text))


@pytest.fixture(scope="module")
def collected(tmp_path_factory: pytest.TempPathFactory) -> set[tuple[str, str, str]]:
    """The texts in the sources."""
    if shutil.which("xgettext") is None:
        pytest.skip("no xgettext: install gettext")
    folder = tmp_path_factory.mktemp("sources")
    for name in SOURCES:
        shutil.copytree(settings.BASE_DIR / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    # Django has translated the texts of its admin.
    shutil.rmtree(folder / "templates" / "admin")
    (folder / "locale").mkdir()
    command = [sys.executable, "-m", "django", "makemessages", "--locale", "de", "--keep-pot", "--no-wrap"]
    environment = {name: value for name, value in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"}
    subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True)
    return {identity(entry) for entry in polib.pofile(str(folder / "locale" / "django.pot"))}


def test_the_languages_are_those_of_the_settings() -> None:
    assert sorted(folder.name for folder in LOCALE.iterdir()) == LANGUAGES
    assert len(settings.LANGUAGES) == len(LANGUAGES) + 1


@pytest.mark.slow
@pytest.mark.processes
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_text_of_the_sources_is_translated(language: str, collected: set[tuple[str, str, str]]) -> None:
    entries = [entry for entry in catalog(language) if not entry.obsolete]
    assert {identity(entry) for entry in entries} == collected, MEND
    untranslated = [entry.msgid for entry in entries if not entry.translated()]
    assert untranslated == [], MEND


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_counted_text_has_each_plural_form_of_its_language(language: str) -> None:
    forms = re.match(r"nplurals=(\d+);", catalog(language).metadata["Plural-Forms"])
    assert forms
    counted = {entry.msgid: sorted(entry.msgstr_plural) for entry in catalog(language) if entry.msgid_plural}
    every = list(range(int(forms[1])))
    assert {text: found for text, found in counted.items() if found != every} == {}


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_translation_has_the_placeholders_of_its_text(language: str) -> None:
    for entry in catalog(language):
        if not entry.msgid_plural:
            assert placeholders(entry.msgstr) == placeholders(entry.msgid), entry.msgid
            continue
        known = {*placeholders(entry.msgid), *placeholders(entry.msgid_plural)}
        # The form for one may leave the number out.
        assert all({*placeholders(text)} <= known for text in entry.msgstr_plural.values()), entry.msgid


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_compiled_catalog_has_the_same_texts(language: str) -> None:
    compiled = polib.mofile(str(LOCALE / language / "LC_MESSAGES" / "django.mo"))
    texts = {identity(entry): (entry.msgstr, entry.msgstr_plural) for entry in catalog(language) if entry.translated()}
    assert {identity(entry): (entry.msgstr, entry.msgstr_plural) for entry in compiled} == texts, MEND
