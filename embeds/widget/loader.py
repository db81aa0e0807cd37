"""Builds the loader: `static/embed/v1.js` with its texts and styles, without comments and indentation."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from django.contrib.staticfiles import finders

from embeds.widget.locales import LANGUAGES, words

SCRIPT = "embed/v1.js"
STYLES = "embed/v1.css"
STRINGS_PLACEHOLDER = "{/*strings*/}"
STYLES_PLACEHOLDER = '"/*styles*/"'
# In the source, comments are on separate lines, so a regular expression can remove them.
COMMENTS = re.compile(r"^\s*(?:/\*.*?\*/|//[^\n]*)\s*\n", re.MULTILINE | re.DOTALL)
INDENTATION = re.compile(r"^\s+", re.MULTILINE)
CSS_BLANKS = re.compile(r"\s*([{};,])\s*|(?<=:)\s+")


@dataclass(frozen=True)
class Loader:
    """The script, plain and gzipped, and the hash for its ETags."""

    plain: bytes
    gzipped: bytes
    digest: str


@cache
def loader() -> Loader:
    plain = build(_source(SCRIPT), _source(STYLES)).encode()
    return Loader(plain, gzip.compress(plain, 9, mtime=0), hashlib.sha256(plain).hexdigest()[:32])


def build(script: str, styles: str) -> str:
    table = {language: words(language)["loader"] for language in LANGUAGES}
    strings = json.dumps(table, ensure_ascii=False, separators=(",", ":"))
    css = json.dumps(CSS_BLANKS.sub(r"\1", COMMENTS.sub("", styles)).strip())
    bare = INDENTATION.sub("", COMMENTS.sub("", script))
    return bare.replace(STRINGS_PLACEHOLDER, strings, 1).replace(STYLES_PLACEHOLDER, css, 1)


def _source(name: str) -> str:
    path = finders.find(name)
    if not isinstance(path, str):
        raise FileNotFoundError(name)
    return Path(path).read_text(encoding="utf-8")
