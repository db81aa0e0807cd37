"""The page of a site's numbers, and the same numbers for a spreadsheet."""

from __future__ import annotations

import csv
from uuid import UUID

from django.http import HttpRequest, HttpResponse

from account_area.page import READ_METHODS, account_page
from account_area.sites.access import own_site, site_page
from account_area.sites.checks import state_of
from account_area.sites.numbers import PERIODS, Numbers, chosen_period, day_rows, page_rows
from account_area.sites.queries import sightings_of
from embeds.analytics.recent import visited
from kernel.database.sql import database_now

BY_PAGE = "pages"


@account_page(methods=READ_METHODS)
def numbers(request: HttpRequest, embed: UUID) -> HttpResponse:
    site = own_site(request, embed)
    days = chosen_period(request.GET.get("days"))
    shown = Numbers(site, days=days, today=database_now().date())
    state = state_of(site, sightings_of(site.pk), is_visited=bool(visited([site.pk])))
    return site_page(request, "site", site, {"numbers": shown, "periods": PERIODS, "state": state})


@account_page(methods=READ_METHODS)
def table(request: HttpRequest, embed: UUID) -> HttpResponse:
    """The table by day, or by page with `?by=pages`, as CSV."""
    site = own_site(request, embed)
    summary = Numbers(site, days=chosen_period(request.GET.get("days")), today=database_now().date()).now
    is_by_page = request.GET.get("by") == BY_PAGE
    name = f"site-{site.pk}-{summary.first}-{summary.last}{'-pages' if is_by_page else ''}.csv"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    response = HttpResponse(content_type="text/csv; charset=utf-8", headers=headers)
    csv.writer(response).writerows(page_rows(summary) if is_by_page else day_rows(summary))
    return response
