"""The page that a link in a mail opens to switch that kind of mail off, without signing in.

Links that switch off one kind of mail without signing in (RFC 8058).

They work as long as the root key that has signed them is known, and serve for nothing else.
"""

from __future__ import annotations

import base64
import binascii
import hmac
from uuid import UUID

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import translation
from django.views.decorators.csrf import csrf_exempt

from kernel.api import signing
from kernel.api.exception_handler import error_response
from kernel.api.exceptions import MethodNotAllowed
from kernel.languages import of_request
from mails import preferences
from mails.kinds import Kind

PURPOSE = "mail-unsubscribe"
MAC_BYTES = 16


def unsubscribe_url(account_id: UUID, kind: Kind) -> str:
    token = account_id.bytes + _mac(next(signing.root_keys()), account_id, kind)
    text = base64.urlsafe_b64encode(token).rstrip(b"=").decode()
    return f"{settings.BASE_URL}{reverse('unsubscribe', kwargs={'kind': kind.value, 'token': text})}"


def account_of(kind: str, token: str) -> UUID | None:
    """The account that a link is for; None: it is not a link of this service."""
    try:
        raw = base64.b64decode(token.encode("ascii") + b"=" * (-len(token) % 4), altchars=b"-_", validate=True)
        known = Kind(kind)
    except (ValueError, binascii.Error):
        return None
    if len(raw) != 16 + MAC_BYTES:
        return None
    account_id = UUID(bytes=raw[:16])
    is_ours = any(hmac.compare_digest(raw[16:], _mac(key, account_id, known)) for key in signing.root_keys())
    return account_id if is_ours else None


def _mac(root: str, account_id: UUID, kind: Kind) -> bytes:
    return signing.mac(root, PURPOSE, kind.value.encode() + b":" + account_id.bytes)[:MAC_BYTES]


METHODS = ("GET", "HEAD", "POST")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'"
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
        return as_permission(render(request, "mails/unsubscribe.html", context))


def as_permission(response: HttpResponse) -> HttpResponse:
    """Keeps the address of a page, which is a permission, from caches and from other pages."""
    response.headers["Content-Security-Policy"] = POLICY
    response.headers["Cache-Control"] = "private, no-store"
    response.headers["Referrer-Policy"] = "no-referrer"
    response.headers["Vary"] = "Accept-Language"
    return response
