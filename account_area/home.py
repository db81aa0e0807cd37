"""The first page of the account area."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from account_area.page import account_page


@account_page
def overview(request: HttpRequest) -> HttpResponse:
    return render(request, "account_area/overview.html")
