"""Makes Markdown of posts from the HTML of comments: markdownify with the few marks that posts have.

Scripts, styles, frames and attributes vanish, only web and mail addresses become links. What is shown has the words of
the HTML: where marks would not be read as such, they are left out.
"""

from __future__ import annotations

import re
from html import unescape

from bs4.exceptions import ParserRejectedMarkup

from kernel.html_references import without_long_references
from messaging.markdown.html import to_plain
from moving.detours import without_detours
from moving.html_elements import Converter
from moving.html_soup import soup_of
from moving.markdown_escapes import escape

# Five times the longest post.
HTML_MAX = 100_000
# Longer ones are cut by the writer, and are not compared.
COMPARED_MAX = 20_000
PARAGRAPHS = re.compile(r"\s*(?:<p>[^<>]*</p>\s*)+|[^<>]*")
PARAGRAPH_END = re.compile(r"</p>\s*|<p>")
LINE_SPACES = re.compile(r"[^\S\n]*\n[^\S\n]*")
BLANK_LINES = re.compile(r"\n{2,}")
TAG = re.compile(r"<[^<>]*>")
NO_WORDS = re.compile(r"[\s~|\x00]+")


def html_to_markdown(html: str, *, has_line_breaks: bool = False) -> str:
    """The Markdown of a comment. With `has_line_breaks`, blank lines part paragraphs, and line ends are line breaks.

    Of HTML of over 100,000 characters the rest is left out, and an ellipsis says so.
    """
    is_cut = len(html) > HTML_MAX
    html = without_long_references(html[:HTML_MAX].replace("\r\n", "\n").replace("\r", "\n"))
    html = without_detours(html, is_html=True)
    markdown = _simple(html, has_line_breaks) if PARAGRAPHS.fullmatch(html) else _converted(html, has_line_breaks)
    return f"{markdown}…" if is_cut else markdown


def _simple(html: str, has_line_breaks: bool) -> str:
    """Of paragraphs without other elements, as most comments are."""
    parts = (unescape(part) for part in PARAGRAPH_END.split(html))
    if has_line_breaks:
        parts = (line for part in parts for line in BLANK_LINES.split(LINE_SPACES.sub("\n", part)))
        return "\n\n".join(escape(text) for part in parts if (text := part.strip()))
    return "\n\n".join(escape(text) for part in parts if (text := " ".join(part.split())))


def _converted(html: str, has_line_breaks: bool) -> str:
    try:
        soup = soup_of(html)
    except (ParserRejectedMarkup, AssertionError):
        return _simple(TAG.sub("", html).replace("<", "&lt;").replace(">", "&gt;"), has_line_breaks)
    for has_marks in (True, False):
        converter = Converter(has_marks=has_marks, has_line_breaks=has_line_breaks)
        markdown = converter.convert_soup(soup).strip()
        if len(markdown) > COMPARED_MAX or _words(to_plain(markdown)) == _words("".join(converter.texts)):
            return str(markdown)
    return _plain(converter.texts)


def _words(text: str) -> str:
    return NO_WORDS.sub("", text)


def _plain(texts: list[str]) -> str:
    """Only the texts, a line for each."""
    lines = (" ".join(text.split()) for text in texts)
    return "\n".join(escape(line) for line in lines if line)
