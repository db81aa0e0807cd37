"""Pages for people in place of the JSON of a refusal: to clients that prefer `text/html`, except from the API."""

from __future__ import annotations

import re
from collections.abc import Callable
from difflib import get_close_matches

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.template.loader import render_to_string
from django.urls import Resolver404, resolve
from django.utils import translation
from django.utils.cache import patch_vary_headers
from django.utils.translation import gettext as _

from kernel import languages, request_ids
from kernel.api.exceptions import ApiError, FormExpired
from kernel.api.requests import JSON_TYPE, Response

HTML_TYPE = "text/html"
# The pages under these paths have no JSON.
ADMIN_PREFIX = "/admin/"
HTML_PREFIXES = (ADMIN_PREFIX, "/account/")
# Such an address that leads nowhere is taken for one of the API, also of another version.
API_PATH = re.compile(r"/(api|v[0-9]+)/")
# What a reader may have meant by a wrong address.
PLACES = (
    *("/demo/", "/account/", "/account/sign-in/", "/account/sites/", "/account/agents/", "/account/communities/"),
    *("/account/inbox/", "/account/me/", "/api/docs/", "/api/redoc/", "/docs/errors/", "/admin/", "/llms.txt"),
)
LIKENESS = 0.6
# Headers of the JSON response that are not those of the page.
JSON_HEADERS = ("Content-Type", "Content-Length", "Link")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)


class ErrorPage(HttpResponse):
    """The access log has the code of the refusal that it shows."""

    error: ApiError | None = None


class HtmlErrorsMiddleware:
    """Replaces the JSON of a refusal by a page for clients that prefer HTML. Its status and headers stay."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if not isinstance(response, Response) or response.error is None or _is_of_api(request):
            return response
        has_page = request.path_info.startswith(HTML_PREFIXES) or prefers_html(request)
        shown = _page(request, response.error, response) if has_page else response
        patch_vary_headers(shown, ("Accept", "Accept-Language") if has_page else ("Accept",))
        return shown


def prefers_html(request: HttpRequest) -> bool:
    """Whether HTML has a higher weight than JSON in `Accept`; not for `*/*` and without the header."""
    html, json = (request.accepted_type(media_type) for media_type in (HTML_TYPE, JSON_TYPE))
    return html is not None and (json is None or html.quality > json.quality)


def _is_of_api(request: HttpRequest) -> bool:
    """Whether the address is that of an operation, or may be meant as one: its refusals are always JSON."""
    match = request.resolver_match
    if match is None:
        # A middleware refused the request before its view was resolved.
        try:
            match = resolve(request.path_info)
        except Resolver404:
            return API_PATH.match(request.path_info) is not None
    return bool(getattr(match.func, "actions", None))


def _page(request: HttpRequest, error: ApiError, json: HttpResponse) -> HttpResponse:
    """Rendered without the request: a page about a failure must need neither a session nor the database."""
    with translation.override(languages.of_request(request)):
        heading, sentence = _texts(error)
        context = {
            "status": error.status_code,
            "heading": heading,
            "sentence": sentence,
            "places": _meant(request.path_info) if error.status_code == 404 else (),
            "request_id": request_ids.current() if error.status_code >= 500 else "",
        }
        is_admin = request.path_info.startswith(ADMIN_PREFIX)
        template = "admin/error.html" if is_admin else "pages/error.html"
        page = ErrorPage(render_to_string(template, context), status=json.status_code)
    page.error = error
    for name, value in json.items():
        if name not in JSON_HEADERS:
            page.headers[name] = value
    page.headers["Content-Security-Policy"] = POLICY
    page.headers["Cache-Control"] = "private, no-store"
    return page


def _texts(error: ApiError) -> tuple[str, str]:
    """The heading and what to do."""
    if isinstance(error, FormExpired):
        return _("This form is no longer valid"), _("Go back, open the page again, and send the form once more.")
    match error.status_code:
        case 404:
            return _("Page not found"), _("There is no page at this address.")
        case 403:
            return _("Not allowed"), _("Your account may not open this page.")
        case 405:
            return _("Not possible"), _("This address cannot be opened like that.")
        case 429:
            return _("Too many requests"), _("Wait a minute, then try again.")
        case 503:
            return _("Not available"), _("The service is busy for a moment. Try again soon.")
        case status if status >= 500:
            return _("Something went wrong"), _("The fault is ours, and nothing was changed. Try again later.")
    return _("Not possible"), _("The service cannot read this request. Go back and try again.")


def _meant(path: str) -> list[str]:
    """The pages with an address like the wrong one."""
    return get_close_matches(path[:100].lower().rstrip("/") + "/", PLACES, n=3, cutoff=LIKENESS)
