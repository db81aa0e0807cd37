"""Turns an exception of any layer into a response: the body of its refusal.

`kernel.api.html_errors` replaces it by a page where the client prefers one.

The validation errors of DRF as a refusal.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from typing import Any, NamedTuple

from django.core.exceptions import PermissionDenied, RequestDataTooBig, TooManyFilesSent
from django.db import DatabaseError, InterfaceError, InternalError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import patch_vary_headers
from django.views.decorators.csrf import csrf_exempt
from rest_framework import exceptions

from kernel.api.bodies import BODY_MAX
from kernel.api.exceptions import (
    BODY,
    ApiError,
    Forbidden,
    FormExpired,
    InvalidInput,
    MethodNotAllowed,
    NotAcceptable,
    NotFound,
    PayloadTooLarge,
    RateLimited,
    TemporarilyUnavailable,
    UnsupportedMediaType,
)
from kernel.api.requests import Response
from kernel.database.sql import TRANSIENT_SQLSTATES, sqlstate
from kernel.metrics.definitions import limits_hit, refusals

Step = str | int


class Fault(NamedTuple):
    """What is wrong at a path into the body or the query string. `code` is DRF's."""

    path: tuple[Step, ...]
    text: str
    code: str


def invalid_input(detail: Any, refusal: type[InvalidInput] = InvalidInput, serializer: Any = None) -> InvalidInput:
    """The refusal for DRF's nested errors. `serializer` knows the choices of a field."""
    faults = list(faults_of(detail))
    first = faults[0]
    allowed = choices_at(serializer, first.path) if first.code == "invalid_choice" else []
    return refusal(
        _message(first, allowed, more=len(faults) - 1),
        field=json_path(first.path),
        details=[{"pointer": pointer(fault.path, refusal.prefix), "message": fault.text} for fault in faults],
        **({"allowed": allowed} if allowed else {}),
    )


def faults_of(detail: Any, path: tuple[Step, ...] = ()) -> Iterator[Fault]:
    """The faults in DRF's nested errors."""
    if isinstance(detail, Mapping):
        for key, inner in detail.items():
            yield from faults_of(inner, path if key == "non_field_errors" else (*path, key))
    elif isinstance(detail, list) and any(isinstance(item, (Mapping, list)) for item in detail):
        for index, item in enumerate(detail):
            yield from faults_of(item, (*path, index))
    else:
        for item in detail if isinstance(detail, list) else [detail]:
            yield Fault(path, str(item), getattr(item, "code", ""))


def json_path(path: tuple[Step, ...]) -> str:
    """`attachments[3].url`, or `body` for the whole of it."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return text.removeprefix(".") or BODY


def pointer(path: tuple[Step, ...], prefix: str) -> str:
    """`/attachments/3/url` (RFC 6901), or `?limit` for a query parameter."""
    escaped = (str(step).replace("~", "~0").replace("/", "~1") for step in path)
    return prefix + "/".join(escaped) if path else ""


def choices_at(serializer: Any, path: tuple[Step, ...]) -> list[str]:
    """The choices of the field at a path; empty if it has none."""
    field = serializer
    for step in path:
        field = getattr(field, "child", None) if isinstance(step, int) else getattr(field, "fields", {}).get(step)
    choices = getattr(field, "choices", ())
    # Django's form fields have pairs, and an empty choice.
    values = [choice[0] if isinstance(choice, tuple) else choice for choice in choices]
    return [str(value) for value in values if value]


def _message(fault: Fault, allowed: list[str], *, more: int) -> str:
    field = json_path(fault.path)
    if fault.code == "required":
        message = f"Send `{field}`: it is required."
    elif allowed:
        message = f"Send as `{field}` one of: {', '.join(allowed)}."
    else:
        message = f"Correct `{field}`: {fault.text[:1].lower()}{fault.text[1:]}"
    return f"{message} ({more} more in details)" if more > 0 else message


logger = logging.getLogger(__name__)
READ_METHODS = ("GET", "HEAD")
UNREADABLE = "Send the request as valid HTTP and UTF-8, percent-encoded in the URL: it cannot be read."
# Exception classes and their refusals.
BY_CLASS = (
    (exceptions.UnsupportedMediaType, UnsupportedMediaType),
    (exceptions.MethodNotAllowed, MethodNotAllowed),
    (exceptions.NotAcceptable, NotAcceptable),
    ((Http404, exceptions.NotFound), NotFound),
    ((PermissionDenied, exceptions.PermissionDenied), Forbidden),
)


def exception_handler(failure: Exception, context: Mapping[str, Any]) -> HttpResponse | None:
    """DRF's EXCEPTION_HANDLER. Returns None, so that DRF raises the exception, for a defect and for a database error
    of a write, which may be run again.
    """
    operation = getattr(context["view"], "operation", None)
    if isinstance(failure, DatabaseError) and operation is not None and operation.is_write:
        return None
    error = as_api_error(failure)
    if isinstance(error, MethodNotAllowed):
        error = MethodNotAllowed(allowed=context["view"].allowed_methods)
    return None if error is None else error_response(error)


def response_to(failure: Exception) -> HttpResponse:
    """The response to a refused request; a defect is raised."""
    error = as_api_error(failure)
    if error is None:
        raise failure
    return error_response(error)


def as_api_error(failure: BaseException | None) -> ApiError | None:
    """The refusal for an exception of DRF, Django or the database; None for a defect."""
    match failure:
        case ApiError():
            return failure
        case exceptions.ValidationError():
            return invalid_input(failure.detail)
        case RequestDataTooBig() | TooManyFilesSent():
            return PayloadTooLarge(field=BODY, max=BODY_MAX)
        case exceptions.ParseError() | UnicodeError():
            return InvalidInput(UNREADABLE, field=BODY)
        case OperationalError() | InterfaceError() | InternalError() if _is_transient(failure):
            logger.error("PostgreSQL does not serve: %s", str(failure).strip()[:300])
            return TemporarilyUnavailable()
    return next((refusal() for exception_class, refusal in BY_CLASS if isinstance(failure, exception_class)), None)


def _is_transient(failure: BaseException) -> bool:
    """Without an SQLSTATE the client has raised it: the last words of a server came behind an answer."""
    return not isinstance(failure, InternalError) or sqlstate(failure) in {None, *TRANSIENT_SQLSTATES}


def error_response(error: ApiError) -> HttpResponse:
    # Codes with a value after the colon, such as that of a scope, count as one.
    refusals.labels(error.code.partition(":")[0]).inc()
    if isinstance(error, RateLimited):
        limits_hit.labels(error.fields.get("counter", error.code)).inc()
    response = Response(error.body(), status=error.status_code, headers=error.headers)
    response.error = error
    # `Accept` may ask for the form of RFC 9457, or for a page.
    patch_vary_headers(response, ["Accept"])
    return response


def read_only(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Allow GET and HEAD only: 405 for other methods."""

    @csrf_exempt  # The CSRF check would return 403 first, and these pages change nothing.
    @wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if request.method not in READ_METHODS:
            return error_response(MethodNotAllowed(allowed=READ_METHODS))
        return view(request, *args, **kwargs)

    return wrapped


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    return error_response(as_api_error(exception) or InvalidInput(UNREADABLE))


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    return error_response(Forbidden())


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    return error_response(FormExpired())


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    return error_response(NotFound())


def server_error(request: HttpRequest) -> HttpResponse:
    return error_response(as_api_error(sys.exc_info()[1]) or ApiError())
