"""The loader as it is sent: `static/embed/v1.js` with its words in it, without comments and indentation."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from django.contrib.staticfiles import finders

from embeds.pages.strings import LANGUAGES, words

SOURCE = "embed/v1.js"
STRINGS_PLACE = "{/*strings*/}"
# The source keeps comments on lines of their own, so that taking them out needs no knowledge of the language.
COMMENTS = re.compile(r"^\s*(?:/\*.*?\*/|//[^\n]*)\s*\n", re.MULTILINE | re.DOTALL)
INDENTATION = re.compile(r"^\s+", re.MULTILINE)


@dataclass(frozen=True)
class Loader:
    """The script, plain and gzipped, and the hash that its ETags are made of."""

    plain: bytes
    gzipped: bytes
    digest: str


@cache
def loader() -> Loader:
    path = finders.find(SOURCE)
    if not isinstance(path, str):
        raise FileNotFoundError(SOURCE)
    plain = build(Path(path).read_text(encoding="utf-8")).encode()
    return Loader(plain, gzip.compress(plain, 9, mtime=0), hashlib.sha256(plain).hexdigest()[:32])


def build(source: str) -> str:
    table = {language: words(language)["loader"] for language in LANGUAGES}
    strings = json.dumps(table, ensure_ascii=False, separators=(",", ":"))
    return INDENTATION.sub("", COMMENTS.sub("", source)).replace(STRINGS_PLACE, strings, 1)
