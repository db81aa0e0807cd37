"""The imported posts that a person may take over: those of foreign authors with an address of theirs."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from account_area.page import account_page
from account_area.people import person_of
from kernel.api.exceptions import NotFound
from moving.claims import claim, claimable_by, has_claimed
from moving.exceptions import ImportNotFound

LISTED_MAX = 100


@account_page
def imported_posts(request: HttpRequest) -> HttpResponse:
    person = person_of(request)
    if request.method == "POST":
        author = request.POST.get("author", "")
        if not (author.isascii() and author.isdecimal()) or len(author) > 18:
            raise NotFound
        try:
            is_done = claim(author_id=int(author), person=person)
        except ImportNotFound:
            if not has_claimed(author_id=int(author), person=person):
                raise
            messages.info(request, _("These posts are yours already."))
            return redirect("account_imported_posts")
        if is_done:
            messages.success(request, _("These posts are yours now."))
        else:
            messages.info(request, _("Many of these posts are yours now. Press the button again for the others."))
        return redirect("account_imported_posts")
    authors = list(claimable_by(person)[:LISTED_MAX])
    return render(request, "account_area/me/imported_posts.html", {"authors": authors})
