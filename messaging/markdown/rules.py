"""The small Markdown of posts: markdown-it with few of its rules. What they do not match stays text as typed.

static/embed/markdown/rules.js has the same rules; tests/markdown compares both.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.helpers import parseLinkDestination, parseLinkLabel, parseLinkTitle
from markdown_it.parser_inline import ParserInline
from markdown_it.rules_block import StateBlock, blockquote, hr, list_block
from markdown_it.rules_inline import StateInline
from markdown_it.rules_inline.state_inline import Scanned
from markdown_it.token import Token
from markdown_it.utils import EnvType

from messaging.markdown.addresses import CJK, bare_url, safe_url

# The deepest block of a quote or a list; a list is two levels. What is deeper is a paragraph with its marks.
LEVEL_MAX = 10
# The longest text of a link.
LABEL_MAX = 500
# How often, on average, a character is read in search of the ends of such texts.
LABEL_READS = 10
# The rule `code` matches nothing: it tells the others that a mark after four spaces is text.
BLOCKS = ["code", "fence", "blockquote", "hr", "list", "paragraph"]
INLINES = ["text", "address", "newline", "escape", "backticks", "emphasis", "link", "image"]
PAIRS = ["balance_pairs", "emphasis", "fragments_join"]
SCHEME = re.compile(r"(?:^|[^a-z0-9])(https?)\Z", re.IGNORECASE | re.ASCII)
IMAGE = re.compile(r"!\[[^\][\n]{0,500}\]\([^()\n]{0,2048}\)")
ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
# White space beside marks.
SPACE = re.compile(r"[\t-\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]")
# A CJK character at the end of a text, with a variation selector or as one, and at a position.
AFTER_CJK = re.compile(rf"(?:[{CJK}][\ufe00-\ufe0e]?|[\u2018\u2019\u201c\u201d]\ufe01|[\U000e0100-\U000e01ef])\Z")
BEFORE_CJK = re.compile(f"[{CJK}]")
BlockRule = Callable[[StateBlock, int, int, bool], bool]


def tokenize(text: str) -> list[Token]:
    return RULES.parse(text, {"label_reads": LABEL_READS * len(text)})


def _no_code(_state: StateBlock, _start: int, _end: int, _silent: bool) -> bool:
    return False


def _ruler(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """A line such as `* * *` is no list of empty items but a paragraph."""
    if silent or not hr(state, start, end, True):
        return False
    state.line = start + 1
    state.push("paragraph_open", "p", 1)
    inline = state.push("inline", "", 0)
    inline.content = state.getLines(start, start + 1, state.blkIndent, False).strip()
    inline.children = []
    state.push("paragraph_close", "p", -1)
    return True


def _bounded(rule: BlockRule) -> BlockRule:
    return lambda state, start, end, silent: state.level < LEVEL_MAX and rule(state, start, end, silent)


def _newline(state: StateInline, silent: bool) -> bool:
    """A line break stays one, and the spaces after it stay as well."""
    if state.src[state.pos] != "\n":
        return False
    if not silent:
        state.push("softbreak", "br", 0)
    state.pos += 1
    return True


def _image_as_text(state: StateInline, silent: bool) -> bool:
    match = IMAGE.match(state.src, state.pos, state.posMax)
    if match is None:
        return False
    if not silent:
        state.append_pending(match[0])
    state.pos = match.end()
    return True


def _address(state: StateInline, silent: bool) -> bool:
    """A URL in the text. In the lookahead for the end of a link's text, it is text."""
    src, pos = state.src, state.pos
    if silent or state.linkLevel or not src.startswith("://", pos):
        return False
    match = SCHEME.search(src[max(0, pos - 6) : pos])
    if match is None or not state.pending.endswith(scheme := match[1]):
        return False
    url = bare_url(src, pos - len(scheme), state.posMax)
    href = safe_url(url)
    if not href:
        return False
    state.pending = state.pending[: -len(scheme)]
    state.push("link_open", "a", 1).attrs = {"href": href}
    state.push("text", "", 0).content = url
    state.push("link_close", "a", -1)
    state.pos += len(url) - len(scheme)
    return True


def _label(state: StateInline, start: int, disable_nested: bool = False) -> int:
    """The end of the text of a link, if it is near. What many brackets without ends leave no reads for is no link."""
    if state.env["label_reads"] <= 0:
        return -1
    end = state.posMax
    state.posMax = near = min(end, start + LABEL_MAX)
    found = parseLinkLabel(state, start, disable_nested)
    state.posMax = end
    state.env["label_reads"] -= (near if found < 0 else found) - start
    return found


def _destination(text: str, start: int, end: int) -> Any:
    """Entities in an address stay as typed, as in texts."""
    found = parseLinkDestination(text, start, end)
    if found.ok:
        raw = text[start + 1 : found.pos - 1] if text[start] == "<" else text[start : found.pos]
        found.str = ESCAPED.sub(r"\1", raw)
    return found


class _State(StateInline):
    def scanDelims(self, start: int, canSplitWord: bool) -> Scanned:  # noqa: N802, N803 (names of markdown-it)
        """Asterisks beside CJK begin and end marks, although neither spaces nor punctuation surround the words: the
        rule of https://github.com/commonmark/commonmark-spec/issues/650.
        """
        found = super().scanDelims(start, canSplitWord)
        end = start + found.length
        if not canSplitWord or found.can_open == found.can_close or start == 0 or end >= self.posMax:
            return found
        if SPACE.match(self.src, start - 1) or SPACE.match(self.src, end):
            return found
        is_beside = AFTER_CJK.search(self.src, max(0, start - 2), start) or BEFORE_CJK.match(self.src, end)
        return Scanned(True, True, found.length) if is_beside else found


class _Inline(ParserInline):
    def parse(self, src: str, md: MarkdownIt, env: EnvType, tokens: list[Token]) -> list[Token]:
        """The method of the base class with the state above."""
        state = _State(src, md, env, tokens)
        self.tokenize(state)
        for rule in self.ruler2.getRules(""):
            rule(state)
        return state.tokens


class _Rules(MarkdownIt):
    def __init__(self) -> None:
        super().__init__("zero", {"maxNesting": 20})
        self.inline = _Inline()
        self.helpers = SimpleNamespace(  # type: ignore[assignment]
            parseLinkDestination=_destination, parseLinkLabel=_label, parseLinkTitle=parseLinkTitle
        )
        block, inline = self.block.ruler, self.inline.ruler
        block.at("code", _no_code)
        block.at("hr", _ruler)
        block.at("blockquote", _bounded(blockquote), {"alt": ["paragraph", "blockquote", "list"]})
        block.at("list", _bounded(list_block), {"alt": ["paragraph", "blockquote"]})
        inline.at("newline", _newline)
        inline.at("image", _image_as_text)
        inline.after("text", "address", _address)
        block.enableOnly(BLOCKS)
        inline.enableOnly(INLINES)
        self.inline.ruler2.enableOnly(PAIRS)
        self.core.ruler.enableOnly(["normalize", "block", "inline"])

    def normalizeLink(self, url: str) -> str:  # noqa: N802 (a name of markdown-it)
        return safe_url(url)

    def validateLink(self, url: str) -> bool:  # noqa: N802
        return url != ""


RULES = _Rules()
