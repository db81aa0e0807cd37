from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from account_area.agents.queries import agents_of, open_requests
from account_area.agents.texts import REQUESTS
from account_area.page import READ_METHODS, account_page
from account_area.people import person_of
from kernel.api.exceptions import NotFound
from kernel.api.ids import parse_id


@account_page(methods=READ_METHODS)
def index(request: HttpRequest) -> HttpResponse:
    """The person's agents, and the requests that are none."""
    before = request.GET.get("before")
    listed = agents_of(person_of(request), before=parse_id(before, missing=NotFound) if before else None)
    requests = [] if before else [(row, *REQUESTS[row.status]) for row in open_requests(person_of(request))]  # type: ignore[index]
    context = {"agents": listed.agents, "next_before": listed.next_before, "requests": requests, "before": before}
    return render(request, "account_area/agents/index.html", context)
