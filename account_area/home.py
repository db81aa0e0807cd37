"""The first page of the account area."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from account_area.navigation import places_of
from account_area.page import account_page
from account_area.people import person_of


@account_page
def overview(request: HttpRequest) -> HttpResponse:
    return render(request, "account_area/overview.html", {"places": places_of(person_of(request))})
