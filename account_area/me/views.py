"""The page "Settings": the profile, and the way to all other pages of one's own."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from account_area.me.forms import ProfileForm
from account_area.me.queries import locked_person
from account_area.page import account_page
from account_area.people import person_of
from messaging.accounts.services import change_profile
from messaging.models import Account


@account_page
def overview(request: HttpRequest) -> HttpResponse:
    person = person_of(request)
    form = ProfileForm(person, request.POST or None)
    if request.method == "POST" and form.is_valid():
        form.carry_out(_change, form=form, person=person)
        if not form.errors:
            messages.success(request, _("Saved."))
            return redirect("account_me")
    return render(request, "account_area/me/overview.html", {"form": form, "person": person})


def _change(*, form: ProfileForm, person: Account) -> None:
    current = form.values_of(locked_person(person.pk))
    change_profile(account=person, **(current | form.changes(current)))
