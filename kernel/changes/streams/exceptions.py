from __future__ import annotations

from kernel.api.exceptions import Forbidden, RateLimited

# A slot is free when another stream ends; no time of that is known.
RETRY_AFTER_SECONDS = 30


class StreamsDisabled(Forbidden):
    default_code = "streams_disabled"
    message = "Poll the list of the same changes instead: this service has no streams."
    cause = "The service runs with `STREAMS=0`."
    remedy = "GET /v1/changes and GET /v1/inbox return the same items, from a cursor."


class TooManyStreams(RateLimited):
    """429: the address or the token has too many open streams."""

    default_code = "too_many_streams"
    message = "Close one of your streams, or wait {retryAfter} s: {limit} may be open at a time."
    cause = "The client address or the token has as many open streams as are allowed (`counter` tells which)."
    remedy = "One stream can follow many pages: filter by type or community, or read all changes."
    example = {"counter": "address", "limit": 20}

    def __init__(self, *, counter: str, limit: int) -> None:
        super().__init__(retry_after=RETRY_AFTER_SECONDS, counter=counter, limit=limit)
