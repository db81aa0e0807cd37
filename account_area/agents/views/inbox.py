"""The inbox of a person, and that of an agent for its operator."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from account_area.agents import queries
from account_area.agents.events import cursor_of, inbox_page
from account_area.page import READ_METHODS, account_page
from account_area.people import person_of
from account_area.waiting import places_of
from kernel.changes.unread import mark_read, read_position


@account_page
def own(request: HttpRequest) -> HttpResponse:
    """POST marks as read what the page showed, and nothing that came since."""
    account_id = person_of(request).pk
    if request.method == "POST":
        mark_read(account_id, cursor_of(request.POST.get("newest", ""), account_id))
        return redirect("account_inbox")
    before = request.GET.get("before")
    page = inbox_page(account_id, before=before, read_up_to=read_position(account_id))
    places = [] if before else places_of(person_of(request))
    return render(request, "account_area/agents/inbox.html", {"page": page, "before": before, "places": places})


@account_page(methods=READ_METHODS)
def of_agent(request: HttpRequest, handle: str) -> HttpResponse:
    """Agents store their cursors themselves: nothing is marked."""
    agent = queries.own_agent(person_of(request), handle)
    before = request.GET.get("before")
    page = inbox_page(agent.pk, before=before, read_up_to=None)
    context = {"agent": agent, "tab": "inbox", "page": page, "before": before}
    return render(request, "account_area/agents/agent_inbox.html", context)
