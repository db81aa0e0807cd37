"""The scripts and styles that the widget loads, each in one file: the loader, and those of the panel.

Joins ES modules to one script, so that a browser sends one request for all of them.

No build step and no bundler is needed: the modules import and export names in one form each, and never in a circle.
Each becomes a function that returns its exports. A script that is loaded later may use modules of another one: it
imports them from a folder beside its own.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from functools import cache, cached_property
from graphlib import TopologicalSorter
from pathlib import Path
from string import ascii_letters
from typing import Literal

import zopfli.gzip
from django.contrib.staticfiles import finders
from rcssmin import cssmin
from rjsmin import jsmin

from embeds.widget.locales import LANGUAGES, words

IMPORT = re.compile(r'^import \{ (\w+(?:, \w+)*) \} from "\./(\w+)\.js";$', re.MULTILINE)
IMPORT_OF_OTHER = re.compile(r'^import \{ (\w+(?:, \w+)*) \} from "\.\./\w+/(\w+)\.js";$', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async function|function|class|const) (\w+))", re.MULTILINE)
# An import or export in any other form.
UNKNOWN = re.compile(r"^(?:import|export)\b.*", re.MULTILINE)


def join_modules(folder: Path) -> str:
    """Return the modules of a folder, each after those that it imports."""
    sources = _sources(folder)
    imports = {name: [module for _, module in IMPORT.findall(source)] for name, source in sources.items()}
    return "\n".join(_function(name, sources[name]) for name in TopologicalSorter(imports).static_order())


def used_of_other(*folders: Path) -> str:
    """The names of the modules of another folder that those of these import: `$a, $b`."""
    sources = [source for folder in folders for source in _sources(folder).values()]
    used = {name for source in sources for _, name in IMPORT_OF_OTHER.findall(source)}
    return ", ".join(f"${name}" for name in sorted(used))


def _sources(folder: Path) -> dict[str, str]:
    return {file.stem: file.read_text(encoding="utf-8") for file in sorted(folder.glob("*.js"))}


def _function(name: str, source: str) -> str:
    exports = ", ".join(EXPORT.findall(source))
    body = source
    for form in (IMPORT, IMPORT_OF_OTHER):
        body = form.sub(r"const { \1 } = $\2;", body)
    body = EXPORT.sub("", body)
    if unknown := UNKNOWN.search(body):
        raise ValueError(f"{name}.js: this form is not supported: {unknown[0]}")
    return f"const ${name} = (() => {{\n{body}\nreturn {{ {exports} }};\n}})();"


JSON = "application/json"
JAVASCRIPT, CSS = "text/javascript; charset=utf-8", "text/css; charset=utf-8"
LOADER, LOADER_STYLES = "embed/v1.js", "embed/v1.css"
LOADER_THEME, LOADER_LINKS, LOADER_ACCOUNTS = "embed/theme.js", "embed/links.js", "embed/accounts.js"
MARKDOWN_MODULES, MARKDOWN_LIBRARY = "embed/markdown", "vendor/markdown-it/markdown-it.js"
PICKER_MODULES, EMOJI = "embed/picker", "vendor/emoji/{language}.json"
LATER_MODULES, LATER_EXPORTS = (
    "embed/later",
    "$accounts, $card, $closed, $form, $forms, $marks, $mentions, $search, $variables",
)
MODERATION_MODULES, MODERATION_WORDS = "embed/moderation", {"moderation": "moderation", "error": "moderation_error"}
PANEL_MODULES, PANEL_STYLES = "embed/panel", ("embed/base.css", "embed/panel.css")
PREFERS_DARK = "@media (prefers-color-scheme:dark)"
LANGUAGES_PLACEHOLDER, THEME_PLACEHOLDER = "/*languages*/", "/*theme*/"
STYLES_PLACEHOLDER = '"/*styles*/"'
# Names that the loader alone knows. The built one has short names in their place, since it may have 6 KB.
LOADER_NAMES = (
    *("LANGUAGES", "arrive", "attach", "build", "buildFrame", "buildNearby", "nook", "extend", "known", "label"),
    *("clicked", "configure", "counted", "countedPage", "currentPage", "fillCounts", "former", "grow", "hasCount"),
    *(
        "hasScheme",
        "isDark",
        "isEarly",
        "isFloating",
        "imported",
        "isFollowing",
        "isInPage",
        "isOnScreen",
        "linked",
        "loadTheme",
    ),
    *(
        "make",
        "pageAllowed",
        "pathMatches",
        "pickLanguage",
        "props",
        "queue",
        "quoted",
        "receive",
        "reported",
        "safely",
    ),
    *(
        "response",
        "records",
        "settled",
        "showCount",
        "showPage",
        "spot",
        "tell",
        "themed",
        "timer",
        "totals",
        "readable",
    ),
)

Scheme = Literal["auto", "light", "dark"]


@dataclass(frozen=True)
class Asset:
    """A file, plain and gzipped, and the hash for its ETags and its address."""

    content_type: str
    plain: bytes
    digest: str

    @cached_property
    def gzipped(self) -> bytes:
        # More iterations save a few bytes more, and take twice the time.
        return bytes(zopfli.gzip.compress(self.plain, numiterations=5))


@cache
def loader() -> Asset:
    return asset(
        JAVASCRIPT, loader_source(_source(LOADER).read_text("utf-8"), _source(LOADER_STYLES).read_text("utf-8"))
    )


@cache
def loader_theme() -> Asset:
    return asset(JAVASCRIPT, str(jsmin(_text(LOADER_THEME))))


@cache
def loader_links() -> Asset:
    return asset(JAVASCRIPT, str(jsmin(_text(LOADER_LINKS))))


@cache
def loader_accounts() -> Asset:
    return asset(JAVASCRIPT, str(jsmin(_text(LOADER_ACCOUNTS))))


@cache
def panel_script() -> Asset:
    modules = jsmin(join_modules(_source(PANEL_MODULES)))
    used = used_of_other(_source(LATER_MODULES), _source(MODERATION_MODULES))
    return asset(JAVASCRIPT, f"{modules}\n$scripts.share({{ {used} }});")


@cache
def later_script() -> Asset:
    """What the panel imports when it is first used: forms in posts, help with writing, search, cards, variables.

    It gets the modules of the panel that it uses. If it imported them from the panel's script, an open panel would
    start again inside itself after an upgrade of the service.
    """
    folder = _source(LATER_MODULES)
    modules = jsmin(join_modules(folder))
    create = f"({{ {used_of_other(folder)} }}) => {{\n{modules}\nreturn {{ {LATER_EXPORTS} }};\n}}"
    return asset(JAVASCRIPT, f"export const create = {create};")


@cache
def moderation_script(language: str) -> Asset:
    """What the panel imports for moderators, with the texts of one of LANGUAGES: other readers load neither."""
    folder = _source(MODERATION_MODULES)
    modules = jsmin(join_modules(folder))
    texts = {group: words(language)[name] for group, name in MODERATION_WORDS.items()}
    added = f"$words.addWords({json.dumps(texts, ensure_ascii=False)});"
    create = f"({{ {used_of_other(folder)} }}) => {{\n{added}\n{modules}\nreturn {{ $moderation }};\n}}"
    return asset(JAVASCRIPT, f"export const create = {create};")


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
def panel_styles(scheme: Scheme = "auto") -> Asset:
    """The styles; for a scheme, those that the browser would choose for a person who prefers it."""
    styles = str(cssmin("".join(map(_text, PANEL_STYLES))))
    if scheme != "auto":
        styles = styles.replace("color-scheme:light dark", f"color-scheme:{scheme}")
        styles = styles.replace(PREFERS_DARK, "@media all" if scheme == "dark" else "@media not all")
    return asset(CSS, styles)


def asset(content_type: str, text: str) -> Asset:
    plain = text.encode()
    return Asset(content_type, plain, hashlib.sha256(plain).hexdigest()[:16])


def loader_source(script: str, styles: str) -> str:
    """Return the loader with the names of the languages and its styles. The embed's config has its texts."""
    css = json.dumps(cssmin(styles))
    values = {
        LANGUAGES_PLACEHOLDER: " ".join(LANGUAGES),
        THEME_PLACEHOLDER: loader_theme().digest,
        STYLES_PLACEHOLDER: css,
    }
    for placeholder, value in values.items():
        script = script.replace(placeholder, value, 1)
    return _with_short_names(str(jsmin(script)))


def _with_short_names(script: str) -> str:
    short = {name: f"${letter}" for name, letter in zip(LOADER_NAMES, ascii_letters, strict=False)}
    return re.sub(r"\w+", lambda word: short.get(word[0], word[0]), script)


def _text(name: str) -> str:
    return _source(name).read_text(encoding="utf-8")


def _source(name: str) -> Path:
    path = finders.find(name)
    if not isinstance(path, str):
        raise FileNotFoundError(name)
    return Path(path)
