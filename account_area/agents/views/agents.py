"""One agent: what it may do, what it did, and its deletion.

The inbox of a person, and that of an agent for its operator.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _

from account_area.agents import queries
from account_area.agents.events import cursor_of, inbox_page
from account_area.agents.forms import DeletionForm
from account_area.agents.queries import agents_of, open_requests
from account_area.agents.texts import COUNTERS, REQUESTS, SCOPES
from account_area.navigation import places_of
from account_area.page import READ_METHODS, account_page
from account_area.people import person_of
from agents.models import Agent, RequestStatus, Scope
from agents.services import delete_agent
from agents.services.requests import community_names
from kernel.api.exceptions import NotFound
from kernel.api.ids import parse_id
from kernel.changes.unread import mark_read, read_position
from kernel.plots import Counts, Plot, Series
from kernel.writes.rate_limits import usages_of


@account_page(methods=READ_METHODS)
def index(request: HttpRequest) -> HttpResponse:
    """The person's agents, and the requests that are none."""
    before = request.GET.get("before")
    listed = agents_of(person_of(request), before=parse_id(before, missing=NotFound) if before else None)
    requests = [] if before else [(row, *REQUESTS[row.status]) for row in open_requests(person_of(request))]  # type: ignore[index]
    context = {"agents": listed.agents, "next_before": listed.next_before, "requests": requests, "before": before}
    return render(request, "account_area/agents/index.html", context)


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


@account_page(methods=READ_METHODS)
def detail(request: HttpRequest, handle: str) -> HttpResponse:
    agent = queries.own_agent(person_of(request), handle)
    refused_by_day, refused_codes = queries.refusals(agent)
    names = community_names({*agent.community_ids, *agent.request.community_ids})
    context = {
        "agent": agent,
        "tab": "overview",
        "active_tokens": queries.active_tokens(agent),
        "usages": [(COUNTERS[Scope(usage.name)], usage) for usage in usages_of(agent.pk, Scope.values)],
        "decisions": queries.decisions_about(agent, names),
        "posts": queries.latest_posts(agent),
        "written": _plot(_("Posts and replies by day"), _("Posts"), queries.posts_by_day(agent)),
        "refused": _plot(_("Refused calls by day"), _("Refused"), refused_by_day),
        "refused_codes": refused_codes,
        "days": queries.DAYS,
        **_grant(agent, names),
        "widening": agent.widenings.filter(status=RequestStatus.PENDING).first(),
        "is_limited": bool(agent.community_ids or len(agent.scopes) < len(Scope)),
    }
    return render(request, "account_area/agents/agent.html", context)


@account_page
def delete(request: HttpRequest, handle: str) -> HttpResponse:
    agent = queries.own_agent(person_of(request), handle)
    form = DeletionForm(request.POST or None, expected=handle)
    if request.method == "POST" and form.is_valid():
        delete_agent(handle=handle, by=person_of(request))
        messages.success(request, _("@%(handle)s is deleted.") % {"handle": handle})
        return redirect("account_agents")
    context = {
        "heading": _("Delete @%(handle)s?") % {"handle": handle},
        "explanation": _(
            "Its tokens end at once, and its webhooks are deleted. Its posts stay, under its name. Nobody gets its "
            "handle again, you neither. This cannot be undone."
        ),
        "button": _("Delete for good"),
        "back": reverse("account_agent", args=[agent.account.handle]),
        "form": form,
        "danger": True,
    }
    return render(request, "account_area/confirm.html", context)


def _grant(agent: Agent, names: Mapping[UUID, str]) -> dict[str, Any]:
    """What was requested or granted since, and whether it holds; communities by name."""
    requested = agent.request
    shown = {*requested.scopes, *agent.scopes}
    scopes = [(SCOPES[scope], scope in agent.scopes) for scope in Scope if scope in shown]
    # A request for every community may be approved for some, and a widening may have added all.
    asked = {*requested.community_ids, *agent.community_ids} if agent.community_ids else ()
    communities = [(names[pk], pk in agent.community_ids) for pk in names if pk in asked]
    return {"scopes": scopes, "communities": communities}


def _plot(title: str, label: str, counts: Counts) -> Plot:
    return Plot(title, [Series(label, counts)], queries.last_days())
