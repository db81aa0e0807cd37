"""For the sign-in window of the panel: whose session this browser has, and a sign-in token for the panel.

The panel itself cannot read the session: it is inside a page of another site, where browsers do not send the cookie.
"""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.middleware.csrf import get_token

from account_area.page import account_page
from messaging.services.accounts import account_record
from messaging.services.sessions import start_session

HEADERS = {"Cross-Origin-Resource-Policy": "same-origin"}


@account_page(signed_in=False)
def continue_in_panel(request: HttpRequest) -> HttpResponse:
    """GET: `{user, csrf}`, with null for nobody. POST, by a press of the button: `{accessToken, user}`."""
    if not request.user.is_authenticated:
        return JsonResponse({"user": None}, headers=HEADERS)
    person = request.user
    if request.method != "POST":
        return JsonResponse({"user": account_record(person), "csrf": get_token(request)}, headers=HEADERS)
    session = start_session(account=person)
    return JsonResponse({"accessToken": session.access, "user": account_record(person)}, headers=HEADERS)
