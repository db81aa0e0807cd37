from __future__ import annotations

from kernel.api.exceptions import ApiError


class CursorExpired(ApiError):
    status_code = 410
    default_code = "cursor_expired"
    message = "Read the current state again, then go on from a new cursor: GET the same list with tail=true."
    cause = "Changes after the cursor have been deleted (they are stored for 30 days), or lost with the database."
    remedy = "Read the lists of posts again. A request with `tail=true` returns the cursor of now."
