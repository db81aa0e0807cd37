"""The scripts and styles that the widget loads, each in one file: the loader, and those of the panel."""

from __future__ import annotations

import gzip
import hashlib
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from django.contrib.staticfiles import finders
from rcssmin import cssmin
from rjsmin import jsmin

from embeds.widget.locales import LANGUAGES, words
from embeds.widget.modules import join_modules

JSON = "application/json"
JAVASCRIPT, CSS = "text/javascript; charset=utf-8", "text/css; charset=utf-8"
LOADER, LOADER_STYLES = "embed/v1.js", "embed/v1.css"
MARKDOWN_MODULES, MARKDOWN_LIBRARY = "embed/markdown", "vendor/markdown-it/markdown-it.js"
PICKER_MODULES, EMOJI = "embed/picker", "vendor/emoji/{language}.json"
PANEL_MODULES, PANEL_STYLES = "embed/panel", ("embed/base.css", "embed/panel.css")
STRINGS_PLACEHOLDER = "{/*strings*/}"
STYLES_PLACEHOLDER = '"/*styles*/"'


@dataclass(frozen=True)
class Asset:
    """A file, plain and gzipped, and the hash for its ETags and its address."""

    content_type: str
    plain: bytes
    gzipped: bytes
    digest: str


@cache
def loader() -> Asset:
    return asset(
        JAVASCRIPT, loader_source(_source(LOADER).read_text("utf-8"), _source(LOADER_STYLES).read_text("utf-8"))
    )


@cache
def panel_script() -> Asset:
    return asset(JAVASCRIPT, str(jsmin(join_modules(_source(PANEL_MODULES)))))


@cache
def markdown_script() -> Asset:
    """The parser of posts: a module, which the panel imports when it shows the first text with marks."""
    modules = str(jsmin(join_modules(_source(MARKDOWN_MODULES))))
    return asset(JAVASCRIPT, f"{_text(MARKDOWN_LIBRARY)}{modules}\nexport const {{ parse, lines }} = $tree;")


@cache
def picker_script() -> Asset:
    """The picker of emoji: a module, which the panel imports when a reader opens it."""
    modules = str(jsmin(join_modules(_source(PICKER_MODULES))))
    return asset(JAVASCRIPT, f"{modules}\nexport const {{ Picker }} = $picker;")


@cache
def emoji_names(language: str) -> Asset:
    """All emoji with their names in one of LANGUAGES."""
    return asset(JSON, _text(EMOJI.format(language=language)))


@cache
def panel_styles() -> Asset:
    return asset(CSS, cssmin("".join(map(_text, PANEL_STYLES))))


def asset(content_type: str, text: str) -> Asset:
    plain = text.encode()
    return Asset(content_type, plain, gzip.compress(plain, 9, mtime=0), hashlib.sha256(plain).hexdigest()[:32])


def loader_source(script: str, styles: str) -> str:
    """Return the loader with its texts and styles."""
    table = {language: words(language)["loader"] for language in LANGUAGES}
    strings = json.dumps(table, ensure_ascii=False, separators=(",", ":"))
    css = json.dumps(cssmin(styles))
    return str(jsmin(script.replace(STRINGS_PLACEHOLDER, strings, 1).replace(STYLES_PLACEHOLDER, css, 1)))


def _text(name: str) -> str:
    return _source(name).read_text(encoding="utf-8")


def _source(name: str) -> Path:
    path = finders.find(name)
    if not isinstance(path, str):
        raise FileNotFoundError(name)
    return Path(path)
