"""The base class of every refusal.

Every refusal of the service by its code.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.conf import settings
from rest_framework.exceptions import APIException

from kernel import request_ids

# Sentences end up in headers and in terminals.
MESSAGE_MAX = 160
# The pages of the codes (`kernel.api.error_pages`).
PAGES = "/docs/errors/"


class ApiError(APIException):
    """A refusal. `fields` are added to the body, `headers` to the response.

    A subclass with a code of its own also declares:

    - `message`: what the client can do next, in one sentence; `{max}` is the field `max`. A call may pass one that
      fits its case better. No message names a secret.
    - `cause` and `remedy`: for the page of the code.
    - `example`: the arguments of a refusal that the page shows.
    - `response_headers`: the names of headers that only its response has.
    """

    status_code = 500
    default_code = "internal_error"
    message = "Something is wrong in the service: try again later, and report the requestId if it happens again."
    cause = "A defect of the service. The request has changed nothing."
    remedy = "Send the same request again after some seconds. Report the requestId to the operator: it is in the logs."
    example: Mapping[str, Any] = {}
    response_headers: Sequence[str] = ()

    def __init__(self, message: str | None = None, *, retry_after: int | None = None, **fields: Any) -> None:
        super().__init__(self.default_code, self.default_code)
        self.code = self.default_code
        self.fields = fields if retry_after is None else {**fields, "retryAfter": retry_after}
        self.headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
        self.message = shortened(message or self.message.format_map(self.fields))

    @property
    def docs(self) -> str:
        """The page of the code."""
        return f"{settings.BASE_URL}{PAGES}{self.default_code}"

    def body(self) -> dict[str, Any]:
        return {
            "error": self.code,
            "message": self.message,
            **self.fields,
            "requestId": request_ids.current(),
            "docs": self.docs,
        }


def shortened(message: str) -> str:
    """A message may quote what the client sent."""
    return message if len(message) <= MESSAGE_MAX else f"{message[: MESSAGE_MAX - 1]}…"


def errors_by_code() -> dict[str, type[ApiError]]:
    """The classes with a code of their own, sorted by status and code; complete when the URLs are loaded."""
    found = {error.default_code: error for error in _subclasses(ApiError) if "default_code" in vars(error)}
    return dict(sorted(found.items(), key=lambda item: (item[1].status_code, item[0])))


def _subclasses(error: type[ApiError]) -> Iterator[type[ApiError]]:
    yield error
    for subclass in error.__subclasses__():
        yield from _subclasses(subclass)
