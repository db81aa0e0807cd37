"""Canonical RFC 3986 percent-encoding: escapes only where needed, in upper case."""

from __future__ import annotations

import re
import string
import unicodedata
from urllib.parse import quote, unquote

UNRESERVED = string.ascii_letters + string.digits + "-._~"
RESERVED = "!$&'()*+,;=:@/?"

# Matches escapes, and the characters that a path, query or fragment must escape, among them a `%` outside an escape.
_TO_DECIDE = re.compile(rf"%[0-9A-Fa-f]{{2}}|[^{re.escape(UNRESERVED + RESERVED)}]")

_ESCAPED = {chr(code): f"%{code:02X}" for code in range(128)}
_DECIDED = _ESCAPED | {
    f"%{high}{low}": chr(code) if chr(code := int(high + low, 16)) in UNRESERVED else f"%{code:02X}"
    for high in string.hexdigits
    for low in string.hexdigits
}

# Characters before U+0300 are composed.
_MAY_COMPOSE = re.compile("%(?:C[C-F]|[D-F])")
# Matches escapes of ASCII, which stay, and runs of letters and escapes of others, which may compose.
_RUN = re.compile(rf"%[0-7].|(?:[{re.escape(UNRESERVED)}]|%[89A-F].)+")


def canonical_escapes(text: str) -> str:
    """ASCII text with unreserved characters decoded, hex digits in upper case, and illegal characters escaped.

    Each escape is decoded at most once, so `%2541` stays: decoding it twice would change its meaning.
    """
    return _TO_DECIDE.sub(lambda match: _DECIDED[match.group()], text)


def has_canonical_escapes(text: str) -> bool:
    return all(_DECIDED.get(piece) == piece for piece in _TO_DECIDE.findall(text))


def composed(text: str) -> str:
    """Canonical escapes in NFC: some systems name files in NFD. What is no UTF-8 stays."""
    return _RUN.sub(_composed, text) if _MAY_COMPOSE.search(text) else text


def _composed(run: re.Match[str]) -> str:
    try:
        decoded = unquote(run[0], errors="strict")
    except UnicodeDecodeError:
        return run[0]
    is_composed = decoded.isascii() or unicodedata.is_normalized("NFC", decoded)
    return run[0] if is_composed else quote(unicodedata.normalize("NFC", decoded), safe="")
