from __future__ import annotations

from config.api.exceptions import ApiError


class CursorExpired(ApiError):
    """410: changes after the cursor have been deleted; the client must read the current state again."""

    status_code = 410
    default_code = "cursor_expired"
