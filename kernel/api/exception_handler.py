"""Turns an exception of any layer into a response: the body of its refusal.

`kernel.api.html_errors` replaces it by a page where the client prefers one.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

from django.core.exceptions import PermissionDenied, RequestDataTooBig, TooManyFilesSent
from django.db import DatabaseError, InterfaceError, InternalError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.views.decorators.csrf import csrf_exempt
from rest_framework import exceptions

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
from kernel.api.field_errors import invalid_input
from kernel.api.responses import Response
from kernel.api.strict_json import BODY_MAX
from kernel.database.sql import TRANSIENT_SQLSTATES, sqlstate
from kernel.metrics.definitions import limits_hit, refusals

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
