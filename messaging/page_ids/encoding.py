"""RFC 3986 percent-encoding in one form: escapes only where needed, and in upper case."""

from __future__ import annotations

import re
import string

UNRESERVED = string.ascii_letters + string.digits + "-._~"
RESERVED = "!$&'()*+,;=:@/?"

# What a path, a query or a fragment holds as it is; all else is escaped. A `%` that starts no escape is one to escape.
_TO_DECIDE = re.compile(rf"%[0-9A-Fa-f]{{2}}|[^{re.escape(UNRESERVED + RESERVED)}]")

_ESCAPED = {chr(code): f"%{code:02X}" for code in range(128)}
_DECIDED = _ESCAPED | {
    f"%{high}{low}": chr(code) if chr(code := int(high + low, 16)) in UNRESERVED else f"%{code:02X}"
    for high in string.hexdigits
    for low in string.hexdigits
}


def canonical_escapes(text: str) -> str:
    """Of ASCII text: unreserved characters decoded, hex in upper case, illegal characters escaped.

    One pass decides each escape for good, so `%2541` stays: decoded once more it would say something else.
    """
    return _TO_DECIDE.sub(lambda found: _DECIDED[found.group()], text)


def has_canonical_escapes(text: str) -> bool:
    return all(_DECIDED.get(found) == found for found in _TO_DECIDE.findall(text))
