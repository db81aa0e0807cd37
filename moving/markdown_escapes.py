"""Escapes plain text so that the Markdown of posts shows it as it is."""

from __future__ import annotations

import re
from collections.abc import Iterator

from messaging.markdown.addresses import bare_url, safe_url

MARK = re.compile(r"[\\`*\[\]_]")
LINE_START = re.compile(r"([ \t]*)(>|~~~|[-+](?=\s|$)|\d{1,9}[.)](?=\s|$))")
ADDRESS = re.compile(r"https?(?=://)", re.IGNORECASE | re.ASCII)


def escape(text: str) -> str:
    """The text with a backslash before each character that would be a mark. Addresses stay as they are."""
    escaped = "".join(part if is_address else MARK.sub(_mark, part) for is_address, part in _parts(text))
    return "\n".join(map(_line, escaped.split("\n")))


def _mark(match: re.Match[str]) -> str:
    """An underscore inside a word is no mark."""
    begin, end = match.span()
    before, after = match.string[max(0, begin - 1) : begin], match.string[end : end + 1]
    return match[0] if match[0] == "_" and before.isalnum() and after.isalnum() else f"\\{match[0]}"


def _line(line: str) -> str:
    match = LINE_START.match(line)
    if match is None:
        return line
    position = match.start(2) if match[2] == "~~~" else match.end() - 1
    return f"{line[:position]}\\{line[position:]}"


def _parts(text: str) -> Iterator[tuple[bool, str]]:
    """The text in parts: is it an address that the Markdown makes a link, and the part."""
    end = 0
    for match in ADDRESS.finditer(text):
        start = match.start()
        if start < end or (start and text[start - 1].isalnum() and text[start - 1].isascii()):
            continue
        url = bare_url(text, start, len(text))
        # No address is looked for inside of what looked like one: the time would grow with the square of the length.
        yield False, text[end:start]
        yield bool(safe_url(url)), url
        end = start + len(url)
    yield False, text[end:]
