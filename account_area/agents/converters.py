"""The handle of an agent in a path."""

from __future__ import annotations

# The path of the form; an agent may have this handle.
RESERVED = "request"


class HandleConverter:
    """A handle. That of an agent called `request` is written `@request`."""

    regex = "@?[a-z0-9_]{3,30}"

    def to_python(self, value: str) -> str:
        return value.removeprefix("@")

    def to_url(self, value: str) -> str:
        return f"@{value}" if value == RESERVED else value
