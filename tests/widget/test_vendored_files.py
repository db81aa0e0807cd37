"""Files of other projects are as they were built, and what they offer is accepted."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from django.test import Client

from embeds.widget.assets import emoji_names, markdown_script, picker_script
from embeds.widget.locales import LANGUAGES
from reactions.emoji import one_emoji
from tests.service import ROOT

VENDOR = ROOT / "static" / "vendor"
# "digest  path" of each file. A new build of README.md changes them.
DIGESTS = dict(
    reversed(line.split()) for line in (Path(__file__).parent / "vendored_files.txt").read_text().splitlines()
)
# What the policy of the panel refuses.
REFUSED = ("eval(", "new Function", "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write")


def groups(language: str) -> Any:
    return json.loads((VENDOR / "emoji" / f"{language}.json").read_text(encoding="utf-8"))


def test_digests_are_those_of_the_build() -> None:
    files = [*VENDOR.glob("*/*.js"), *VENDOR.glob("*/*.json")]
    assert {str(file.relative_to(VENDOR)): hashlib.sha256(file.read_bytes()).hexdigest() for file in files} == DIGESTS


def test_every_offered_emoji_is_accepted_in_its_spelling_and_has_a_name() -> None:
    english = [entry[0] for group in groups("en") for entry in group["emoji"]]
    assert len(english) > 1000
    assert [emoji for emoji in english if one_emoji(emoji) != emoji] == []
    for language in LANGUAGES:
        entries = [entry for group in groups(language) for entry in group["emoji"]]
        assert [emoji for emoji, _, _ in entries] == english
        assert [emoji for emoji, name, _ in entries if not name.strip()] == []
        assert all(group["name"] for group in groups(language))


def test_scripts_use_nothing_that_the_policy_of_the_panel_refuses() -> None:
    for asset in (markdown_script(), picker_script()):
        assert [use for use in REFUSED if use in asset.plain.decode()] == []


def test_emoji_are_stored_by_browsers_under_their_digest_and_only_in_known_languages(client: Client) -> None:
    asset = emoji_names("de")
    answer = client.get("/embed/emoji/de.json", {"v": asset.digest}, headers={"Accept-Encoding": "gzip"})
    assert (answer.status_code, answer.content) == (200, asset.gzipped)
    assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    assert answer.headers["Content-Type"] == "application/json"
    assert client.get("/embed/emoji/xx.json").status_code == 404
    assert client.get("/embed/emoji/..%2f..%2fen.json").status_code == 404
