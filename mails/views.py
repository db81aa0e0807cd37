"""The page that a link in a mail opens to switch that kind of mail off, without signing in."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import translation
from django.views.decorators.csrf import csrf_exempt

from kernel.api.exception_handler import error_response
from kernel.api.exceptions import MethodNotAllowed
from kernel.languages import of_request
from mails import preferences
from mails.kinds import Kind
from mails.unsubscribing import account_of

METHODS = ("GET", "HEAD", "POST")
POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)


# The mail provider of the recipient sends the POST of RFC 8058, and has no cookie. The link is the permission.
@csrf_exempt
def unsubscribe_page(request: HttpRequest, kind: str, token: str) -> HttpResponse:
    """GET asks for a confirmation, since programs that check mails open links; POST switches the kind off."""
    if request.method not in METHODS:
        return error_response(MethodNotAllowed(allowed=METHODS))
    account_id = account_of(kind, token)
    if account_id is None:
        raise Http404
    is_done = request.method == "POST"
    if is_done:
        preferences.unsubscribe(account_id=account_id, kind=Kind(kind))
    with translation.override(of_request(request)):
        context = {"kind": Kind(kind), "is_done": is_done}
        response = render(request, "mails/unsubscribe.html", context)
    response.headers["Content-Security-Policy"] = POLICY
    response.headers["Cache-Control"] = "private, no-store"
    # The address of the page is a permission.
    response.headers["Referrer-Policy"] = "no-referrer"
    response.headers["Vary"] = "Accept-Language"
    return response
