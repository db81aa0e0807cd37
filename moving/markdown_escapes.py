"""Escapes plain text so that the Markdown of posts shows it as it is."""

from __future__ import annotations

import re
from collections.abc import Iterator

from messaging.markdown.addresses import bare_url, safe_url

# An underscore inside a word is no mark.
MARK = re.compile(r"[\\`*\[\]]|(?<![^\W_])_|_(?![^\W_])")
LINE_START = re.compile(r"^([ \t]*)(>|~~~|[-+](?=\s|$)|\d{1,9}[.)](?=\s|$))", re.MULTILINE)
ADDRESS = re.compile(r"https?(?=://)", re.IGNORECASE | re.ASCII)


def escape(text: str) -> str:
    """The text with a backslash before each character that would be a mark. Addresses stay as they are."""
    escaped = "".join(part if is_address else MARK.sub(r"\\\g<0>", part) for is_address, part in _parts(text))
    return LINE_START.sub(_line_start, escaped)


def _line_start(match: re.Match[str]) -> str:
    return f"{match[1]}{match[2][:-1]}\\{match[2][-1]}" if match[2] != "~~~" else f"{match[1]}\\~~~"


def _parts(text: str) -> Iterator[tuple[bool, str]]:
    """The text in parts: is it an address that the Markdown makes a link, and the part."""
    end = 0
    for match in ADDRESS.finditer(text):
        start = match.start()
        if start < end or (start and text[start - 1].isalnum() and text[start - 1].isascii()):
            continue
        url = bare_url(text, start)
        # No address is looked for inside of what looked like one: the time would grow with the square of the length.
        yield False, text[end:start]
        yield bool(safe_url(url)), url
        end = start + len(url)
    yield False, text[end:]
