"""The export of one's data, and the erasure of oneself."""

from __future__ import annotations

from typing import cast
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import messages
from django.contrib.auth import login
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _

from account_area.me.forms import ErasureForm
from account_area.page import READ_METHODS, account_page, error_page
from account_area.people import person_of
from account_area.sign_in.recent import is_recent
from kernel.api.exceptions import ApiError
from messaging.accounts.second_factor import has_second_factor
from messaging.accounts.visitors import visitor_of
from messaging.models import Account, PersonErasure, PostsChoice
from messaging.privacy.erasures import cancel_erasure, erasure_of, request_erasure
from messaging.privacy.exports import content_of, exports_of, ready_export, request_export

# While an export is made, the page is loaded again, also without scripts.
REFRESH_SECONDS = 3


@account_page
def export(request: HttpRequest) -> HttpResponse:
    person = person_of(request)
    if request.method == "POST":
        request_export(person=person)
        return redirect("account_export")
    exports = exports_of(person=person)
    context = {"exports": exports, "is_waiting": any(export.is_unfinished for export in exports)}
    response = render(request, "account_area/me/export.html", context)
    if context["is_waiting"]:
        response.headers["Refresh"] = str(REFRESH_SECONDS)
    return response


@account_page(methods=READ_METHODS)
def download(request: HttpRequest, export_id: UUID) -> HttpResponse:
    found = ready_export(export_id=export_id, person=person_of(request))
    name = f"{person_of(request).handle}-{found.requested_at:%Y-%m-%d}.zip"
    headers = {"Content-Length": str(found.size), "Content-Disposition": f'attachment; filename="{name}"'}
    content = StreamingHttpResponse(content_of(found), content_type="application/zip", headers=headers)
    return cast(HttpResponse, content)


@account_page
def erase(request: HttpRequest) -> HttpResponse:
    person = person_of(request)
    erasure = erasure_of(person.pk)
    if erasure is not None or "cancel" in request.POST:
        return _waiting(request, person, erasure)
    if has_second_factor(account=person) and not is_recent(request):
        return redirect(f"{reverse('account_reauthenticate')}?{urlencode({'next': request.path})}")
    form = ErasureForm(request.POST or None, account=person, visitor=visitor_of(request, session_of=person.pk))
    if request.method == "POST" and form.is_valid():
        posts = PostsChoice(form.cleaned_data["posts"])
        if form.carry_out(request_erasure, person=person, posts=posts, by=person) is not None:
            _stay_signed_in(request, person)
            return redirect("account_erase")
    return render(request, "account_area/me/erase.html", {"form": form})


def _waiting(request: HttpRequest, person: Account, erasure: PersonErasure | None) -> HttpResponse:
    # The form of the erasure, sent again, must not cancel it.
    if "cancel" in request.POST:
        try:
            cancel_erasure(person=person, by=person)
        except ApiError as refusal:
            return error_page(request, refusal)
        messages.success(request, _("Your account stays."))
        return redirect("account_me")
    return render(request, "account_area/me/erasure_waiting.html", {"erasure": erasure})


def _stay_signed_in(request: HttpRequest, person: Account) -> None:
    """All sessions have ended. This browser gets another one, which can only cancel the erasure."""
    person.refresh_from_db()
    login(request, person, backend="django.contrib.auth.backends.ModelBackend")
