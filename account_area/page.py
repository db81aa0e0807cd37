"""The decorator of every view under `/account/`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, wraps
from typing import Any, overload

from django.conf import settings
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import translation
from django.utils.cache import patch_vary_headers
from django.utils.http import url_has_allowed_host_and_scheme

from account_area import languages
from account_area.forms import sentence
from kernel.api import throttling
from kernel.api.exception_handler import as_api_error
from kernel.api.exceptions import ApiError, InvalidInput, MethodNotAllowed, NotFound, NotOwner
from kernel.api.requests import contains_nul
from kernel.second_factor import needs_second_factor

View = Callable[..., HttpResponse]
READ_METHODS = ("GET", "HEAD")
ERASE_PATH, SIGN_OUT_PATH = "/account/me/erase/", "/account/sign-out/"
SECURITY_PATH, CONFIRM_PATH = "/account/me/security/", "/account/confirm/"
POLICY = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self' data:",
    "connect-src": "'self'",
    "base-uri": "'none'",
    "form-action": "'self'",
    "frame-ancestors": "'none'",
}


@overload
def account_page(view: View) -> View: ...
@overload
def account_page(
    *, methods: Sequence[str] = ..., signed_in: bool = ..., policy: dict[str, str] | None = ...
) -> Callable[[View], View]: ...
def account_page(
    view: View | None = None,
    *,
    methods: Sequence[str] = (*READ_METHODS, "POST"),
    signed_in: bool = True,
    policy: dict[str, str] | None = None,
) -> View | Callable[[View], View]:
    """Make a view a page of the account area.

    - Without a session, redirect to the sign-in page and back afterwards; not with `signed_in=False`.
    - Activate the person's language.
    - Render an ApiError or Http404 as the page of its status. What belongs to another person does not exist: 404.
    - Forbid caches, and set the strict Content-Security-Policy; `policy` replaces directives of it.
    """
    if view is None:
        return partial(_as_page, methods=methods, signed_in=signed_in, policy=policy)
    return _as_page(view, methods=methods, signed_in=signed_in, policy=policy)


def _as_page(view: View, *, methods: Sequence[str], signed_in: bool, policy: dict[str, str] | None) -> View:
    @wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        language = languages.of_request(request)
        with translation.override(language):
            response = _response(view, request, args, kwargs, methods=methods, signed_in=signed_in)
            response.headers.setdefault("Content-Language", language)
        response.headers.setdefault("Content-Security-Policy", policy_text(**(policy or {})))
        response.headers.setdefault("Cache-Control", "private, no-store")
        response.headers.setdefault("Referrer-Policy", "same-origin")
        patch_vary_headers(response, ("Cookie", "Accept-Language"))
        return response

    return wrapped


def policy_text(**changes: str) -> str:
    """The strict policy; `changes` replace directives."""
    return "; ".join(f"{name} {sources}" for name, sources in (POLICY | changes).items())


def error_page(request: HttpRequest, error: ApiError) -> HttpResponse:
    """The page of a refusal that no form shows."""
    context = {"status": error.status_code, "sentence": sentence(error)}
    return render(request, "account_area/error.html", context, status=error.status_code)


def _response(
    view: View, request: HttpRequest, args: Any, kwargs: Any, *, methods: Sequence[str], signed_in: bool
) -> HttpResponse:
    if signed_in and not request.user.is_authenticated:
        return redirect_to_login(_to_return_to(request, methods), settings.LOGIN_URL)
    try:
        _check(request, methods)
        target = _only_page(request) if signed_in else None
        if target is not None:
            return redirect(target)
        response = view(request, *args, **kwargs)
        # A template that is rendered later would be outside of the language and of this `try`.
        return response.render() if hasattr(response, "render") else response
    except Exception as failure:
        error = as_api_error(failure)
        if error is None:
            raise
        return error_page(request, NotFound() if isinstance(error, NotOwner) else error)


def _to_return_to(request: HttpRequest, methods: Sequence[str]) -> str:
    """The page itself; if it cannot be opened, the one whose button was pressed."""
    if "GET" in methods:
        return request.get_full_path()
    pressed_on = request.headers.get("Referer", "")
    own = pressed_on.removeprefix(f"{request.scheme}://{request.get_host()}")
    is_own = own.startswith("/") and url_has_allowed_host_and_scheme(own, allowed_hosts=None)
    return own if is_own else reverse("account")


def _only_page(request: HttpRequest) -> str | None:
    """Where to lead a person who has to cancel the erasure first, or to set up a second factor; else None."""
    if getattr(request.user, "erasure_due_at", None) is not None:
        return None if request.path_info in {ERASE_PATH, SIGN_OUT_PATH} else ERASE_PATH
    if request.path_info.startswith((SECURITY_PATH, CONFIRM_PATH, SIGN_OUT_PATH)):
        return None
    return SECURITY_PATH if needs_second_factor(request.user) else None


def _check(request: HttpRequest, methods: Sequence[str]) -> None:
    if request.method not in methods:
        raise MethodNotAllowed(allowed=methods)
    if contains_nul(request):
        raise InvalidInput("Send no NUL character.", field="body")
    if request.method not in READ_METHODS and request.user.is_authenticated:
        throttling.hit("account_page", str(request.user.pk))
