"""Parameters that carry a visitor's session, never which page it is.

They are removed under the names that servers give them by default. `sid` is also used for content, so it counts only
with a value that looks like a session's: 16 or more hexadecimal digits.
"""

from __future__ import annotations

import re

# In a path, Java's servers put it behind the last segment, before the query.
PATH_PARAMETER = re.compile(r";(jsessionid)=[^/;]*", re.IGNORECASE)

_NAMES = frozenset({"phpsessid", "jsessionid"})
_PREFIX = "aspsessionid"  # Classic ASP adds letters of its own.
_SID = re.compile(r"[0-9a-f]{16,}\Z", re.IGNORECASE)


def is_session(name: str, value: str) -> bool:
    """`name` decoded; its case does not count."""
    name = name.lower()
    return name in _NAMES or name.startswith(_PREFIX) or (name == "sid" and _SID.match(value) is not None)
