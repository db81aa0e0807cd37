"""Parameters that contain a visitor's session id and do not identify the page.

They are removed under the default names of servers. `sid` is also used for content, so it is removed only if its value
looks like a session id: 16 or more hexadecimal digits.
"""

from __future__ import annotations

import re

# Java servers append it to the last segment of the path.
PATH_PARAMETER = re.compile(r";(jsessionid)=[^/;]*", re.IGNORECASE)

_NAMES = frozenset({"phpsessid", "jsessionid"})
_PREFIX = "aspsessionid"  # Classic ASP appends random letters.
_SID = re.compile(r"[0-9a-f]{16,}\Z", re.IGNORECASE)


def is_session(name: str, value: str) -> bool:
    """`name` is decoded; its case is ignored."""
    name = name.lower()
    return name in _NAMES or name.startswith(_PREFIX) or (name == "sid" and _SID.match(value) is not None)
