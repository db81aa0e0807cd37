"""For the sign-in window of the panel: whose session this browser has, and a sign-in token for the panel.

The panel itself cannot read the session: it is inside a page of another site, where browsers do not send the cookie.
"""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.middleware.csrf import get_token

from account_area.page import account_page
from kernel.api.exceptions import ApiError
from messaging.accounts.services import account_record
from messaging.accounts.sessions import require_may_start_session, start_session
from messaging.models import Account

HEADERS = {"Cross-Origin-Resource-Policy": "same-origin"}


@account_page(signed_in=False)
def continue_in_panel(request: HttpRequest) -> HttpResponse:
    """GET: `{user, csrf}`; null for nobody, and for a person whom POST refuses.

    POST, by a press of the button: `{accessToken, user}`.
    """
    person = request.user
    if not person.is_authenticated:
        return JsonResponse({"user": None}, headers=HEADERS)
    if request.method != "POST":
        return JsonResponse(_offer(request, person), headers=HEADERS)
    session = start_session(account=person)
    return JsonResponse({"accessToken": session.access, "user": account_record(person)}, headers=HEADERS)


def _offer(request: HttpRequest, person: Account) -> dict[str, Any]:
    try:
        require_may_start_session(person)
    except ApiError:
        return {"user": None}
    return {"user": account_record(person), "csrf": get_token(request)}
