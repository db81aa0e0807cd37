"""The link in a mail that opens the sign-in for a browser while strangers try passwords of the person.

It signs nobody in: a browser that opened it is counted apart from strangers, as one that has signed in before.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from allauth.account.models import EmailAddress
from django.conf import settings
from django.contrib import messages
from django.core.signing import BadSignature, TimestampSigner
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext as _

from account_area.page import account_page
from account_area.sign_in.adapters import absolute, send_mail
from account_area.sign_in.people import NOBODY
from kernel.api.exceptions import RateLimited
from kernel.writes.attempts import Counter, count
from messaging.accounts.sign_in_limits import closed
from messaging.accounts.visitors import browser_from, remember, visitor_of
from messaging.models import Account, AccountKind

MAIL = "sign_in_link"
VALID_SECONDS = 24 * 3600


@receiver(closed)
def mail_link(sender: Any, account: Account | None, login: str, **_kwargs: Any) -> None:
    """Mail the link to the confirmed address, once a day. An unknown name takes as long."""
    account_id = NOBODY.pk if account is None else account.pk
    row = EmailAddress.objects.select_related("user").filter(user_id=account_id, verified=True).first()
    try:
        count(Counter(MAIL, login if account is None else str(account_id)))
    except RateLimited:
        return
    address, person = (row.email, row.user) if row is not None and row.user.is_active else ("", NOBODY)
    url = absolute(reverse("account_open_sign_in", args=[_signer().sign(str(person.pk))]))
    with translation.override(person.language or settings.LANGUAGE_CODE):
        send_mail("sign_in_link", address, {"url": url, "handle": person.handle})


@account_page(signed_in=False)
def open_sign_in(request: HttpRequest, token: str) -> HttpResponse:
    """The link of the mail. Programs of mail servers open links too, so a button opens the sign-in."""
    person = _person_of(token)
    if person is None:
        return render(request, "account_area/sign_in/link_ended.html", {"again": None})
    if request.method == "POST":
        messages.success(request, _("You can sign in with this browser now."))
        response = redirect("account_login")
        # All browsers that open one link share its tries.
        remember(response, visitor_of(request), person, browser=browser_from(token))
        return response
    context = {
        "heading": _("Sign in with this browser"),
        "explanation": _("Only open the sign-in of @%(handle)s if this is your browser.") % {"handle": person.handle},
        "button": _("Open the sign-in"),
        "back": reverse("account_login"),
    }
    return render(request, "account_area/confirm.html", context)


def _person_of(token: str) -> Account | None:
    try:
        account_id = UUID(_signer().unsign(token, max_age=VALID_SECONDS))
    except (BadSignature, ValueError):
        return None
    return Account.objects.filter(pk=account_id, kind=AccountKind.HUMAN, is_active=True).first()


def _signer() -> TimestampSigner:
    return TimestampSigner(salt="sign-in link")
