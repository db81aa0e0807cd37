from __future__ import annotations

from config.api.exceptions import Forbidden, RateLimited

# A slot is free when another stream ends; no time of that is known.
RETRY_AFTER_SECONDS = 30


class StreamsDisabled(Forbidden):
    """403: `STREAMS=0`. Clients read the lists instead."""

    default_code = "streams_disabled"


class TooManyStreams(RateLimited):
    """429: the address or the token has too many open streams."""

    default_code = "too_many_streams"

    def __init__(self) -> None:
        super().__init__(retry_after=RETRY_AFTER_SECONDS)
