"""The one exception of this package."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import httpx

# The service's own code, if it is configured to refuse; else it answers with the first result, and says so.
KEY_REUSED, PAYLOAD_MISMATCH = "idempotency_key_reused", "Idempotency-Payload-Mismatch"
UNREACHABLE = "unreachable"
INVALID_RESPONSE = "invalid_response"
INVALID_INPUT = "invalid_input"
# Another attempt may succeed. The last three are what proxies and the service answer while it is away.
PASSING_STATUSES = frozenset({429, 502, 503, 504})
PASSING_CODES = frozenset({UNREACHABLE, "idempotency_in_progress"})


class ServiceError(Exception):
    """A refusal of the service, or no usable response of it.

    `code` is what a program decides by: a code of the service, `unreachable` (no response), `invalid_response` (one
    that cannot be read, or a success without the expected JSON) or `http_502` and the like (an error that is not the
    service's own). What no request can carry is `invalid_input`, and nothing is sent. `status` is 0 if there was no
    response. `body` has all keys of the response. `key` is the Idempotency-Key of the write that has failed: the same
    call with `key=` repeats it, and if it was done nevertheless, returns its result.
    """

    def __init__(self, code: str, message: str, *, status: int = 0, body: dict[str, Any] | None = None) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.status = status
        self.body = body or {}
        self.retry_after: int | None = None
        self.key: str | None = None

    @property
    def field(self) -> str | None:
        """The first thing that is wrong, such as `attachments[3].url`."""
        return self.body.get("field")

    @property
    def details(self) -> list[dict[str, str]]:
        """Everything that is wrong, each with `pointer` and `message`."""
        return self.body.get("details") or []

    @property
    def allowed(self) -> list[str]:
        """What the service would accept: choices, communities, scopes."""
        return self.body.get("allowed") or []

    @property
    def request_id(self) -> str | None:
        """The operator of the service finds the logs by it."""
        return self.body.get("requestId")

    @property
    def is_passing(self) -> bool:
        """Whether the same request may succeed later."""
        return self.status in PASSING_STATUSES or self.code in PASSING_CODES

    @property
    def is_unreachable(self) -> bool:
        """Whether the service did not answer by itself: no response, a failure, or a response of another program."""
        return self.status >= 500 or self.code in (UNREACHABLE, INVALID_RESPONSE) or not self.body

    @classmethod
    def of_input(cls, message: str, field: str) -> ServiceError:
        """An input that cannot be sent."""
        return cls(INVALID_INPUT, message, body={"error": INVALID_INPUT, "message": message, "field": field})

    @classmethod
    def of_field(cls, name: str, *, status: int = 200, key: str | None = None) -> ServiceError:
        """A success without a field that the service always sends."""
        message = f"The response has no valid {name!r}: is this the base address of the service?"
        error = cls(INVALID_RESPONSE, message, status=status)
        error.key = key
        return error

    @classmethod
    def of_failure(cls, error: httpx.RequestError) -> ServiceError:
        reason = str(error) or type(error).__name__
        if isinstance(error, httpx.TransportError):
            return cls(UNREACHABLE, f"The service does not answer: {reason}")
        return cls(INVALID_RESPONSE, f"The response cannot be read: {reason}")

    @classmethod
    def of_response(cls, response: httpx.Response) -> ServiceError:
        """The error of a response that is no success and has been read."""
        body = object_in(response)
        if isinstance(body.get("error"), str):
            error = cls(body["error"], str(body.get("message", "")), status=response.status_code, body=body)
        else:
            location = response.headers.get("Location")
            message = f"redirected to {location}" if location else f"{response.reason_phrase}, not from the service"
            error = cls(f"http_{response.status_code}", message, status=response.status_code)
        error.retry_after = _seconds(response.headers.get("Retry-After", ""))
        return error


def json_object(response: httpx.Response, fields: Mapping[str, type]) -> dict[str, Any]:
    """The JSON object of a success that is the answer to this very request and has these fields."""
    body = object_in(response)
    if not body:
        message = "The response is no JSON object: is this the base address of the service?"
        raise ServiceError(INVALID_RESPONSE, message, status=response.status_code)
    if PAYLOAD_MISMATCH in response.headers:
        message = "Nothing is written: this key belongs to a write with another content. Send another key."
        raise ServiceError(KEY_REUSED, message, status=response.status_code, body={"error": KEY_REUSED, "first": body})
    for name, kind in fields.items():
        if not isinstance(body.get(name), kind):
            raise ServiceError.of_field(name, status=response.status_code)
    return body


def object_in(response: httpx.Response) -> dict[str, Any]:
    """The JSON object of any response; empty if there is none."""
    try:
        body = response.json()
    except (ValueError, RecursionError):
        return {}
    return body if isinstance(body, dict) else {}


def _seconds(header: str) -> int | None:
    """The service sends seconds; the date that a proxy may send instead is ignored."""
    return int(header) if header.isascii() and header.isdecimal() and len(header) < 10 else None
