"""The first page of the account area: what waits for the person, and what they have."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from account_area.agents.queries import agents_of, open_requests
from account_area.agents.texts import REQUESTS
from account_area.navigation import places_of
from account_area.page import account_page
from account_area.people import person_of
from account_area.sites.queries import sightings_by_site, sites_of
from agents.models import RequestStatus

SHOWN_MAX = 5


@account_page
def overview(request: HttpRequest) -> HttpResponse:
    """Cards that explain what there is are for a person who has nothing yet. A fixed number of queries."""
    person = person_of(request)
    sites = list(sites_of(person)[:SHOWN_MAX])
    seen = sightings_by_site([site.pk for site in sites])
    for site in sites:
        site.is_seen = any(not sighting.is_refused for sighting in seen[site.pk])  # type: ignore[attr-defined]
    pending = [row for row in open_requests(person) if row.status == RequestStatus.PENDING][:SHOWN_MAX]
    context = {
        "places": places_of(person),
        "sites": sites,
        "agents": agents_of(person).agents[:SHOWN_MAX],
        "requests": [(row, *REQUESTS[RequestStatus(row.status)]) for row in pending],
    }
    return render(request, "account_area/overview.html", context)
