"""Asking for an agent: the form with its checks, the page of a request, and its withdrawal.

Tells whether a handle can be had, for the form of a request.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _

from account_area.agents import queries
from account_area.agents.communities import SEARCH_MAX, find_communities, label_of
from account_area.agents.forms import RequestForm, WideningForm
from account_area.agents.texts import REQUESTS, SCOPES
from account_area.page import READ_METHODS, account_page
from account_area.people import person_of
from agents.models import PENDING_MAX, RequestStatus, Scope
from agents.services import cancel_request, request_agent, request_widening
from agents.services.requests import community_names
from agents.words import added_by, asked_and_granted
from kernel.api import throttling
from messaging.accounts.services import handles_like
from messaging.models import HandleClaim
from messaging.models.account import HANDLE


def check_handle(handle: str) -> dict[str, str]:
    """`{state, text}`; states: empty, invalid, taken, similar, free."""
    if not handle:
        return {"state": "empty", "text": ""}
    if not HANDLE.fullmatch(handle):
        return {"state": "invalid", "text": _("Use 3 to 30 of a to z, 0 to 9 and _.")}
    if HandleClaim.objects.filter(handle=handle).exists():
        return {"state": "taken", "text": _("This handle is already in use. Choose another one.")}
    similar = handles_like(handle=handle)
    if similar:
        text = _("It is free, but looks like @%(other)s. A reviewer may refuse it.") % {"other": similar[0][0]}
        return {"state": "similar", "text": text}
    return {"state": "free", "text": _("This handle is free.")}


@account_page
def ask(request: HttpRequest) -> HttpResponse:
    """The button beside the search sends the form too, and shows it again with what was found."""
    search = request.POST.get("search", "").strip()[:SEARCH_MAX]
    is_search = "find" in request.POST
    if request.method != "POST":
        form = RequestForm()
    elif is_search:
        form = RequestForm(request.POST, search=search)
        form.errors.clear()
    else:
        form = RequestForm(request.POST)
        if form.is_valid() and (location := form.submit_once(person_of(request), lambda: _ask(request, form))):
            return redirect(location)
    context = {"form": form, "search": search, "pending_max": PENDING_MAX, "is_search": is_search}
    return render(request, "account_area/agents/ask.html", context)


def _ask(request: HttpRequest, form: RequestForm) -> str:
    asked = request_agent(requester=person_of(request), **form.cleaned_data["arguments"])
    return reverse("account_agent_request", args=[asked.pk])


@account_page
def widen(request: HttpRequest, handle: str) -> HttpResponse:
    """Ask for more rights of an agent, with a search as in `ask`."""
    agent = queries.own_agent(person_of(request), handle)
    search = request.POST.get("search", "").strip()[:SEARCH_MAX]
    is_search = "find" in request.POST
    form = WideningForm(request.POST if request.method == "POST" else None, agent=agent, search=search)
    if is_search:
        form.errors.clear()
    elif request.method == "POST" and form.is_valid():

        def make() -> str:
            asked = request_widening(requester=person_of(request), **form.cleaned_data["arguments"])
            return reverse("account_agent_request", args=[asked.pk])

        if location := form.submit_once(person_of(request), make):
            return redirect(location)
    context = {"agent": agent, "tab": "widen", "form": form, "search": search, "is_search": is_search}
    return render(request, "account_area/agents/widen.html", context)


@account_page(methods=READ_METHODS)
def handle_check(request: HttpRequest) -> HttpResponse:
    """Whether a handle is free, while it is typed."""
    throttling.hit("account_page", str(request.user.pk))
    return JsonResponse(check_handle(request.GET.get("handle", "")))


@account_page(methods=READ_METHODS)
def communities(request: HttpRequest) -> HttpResponse:
    """The communities that a search finds, while it is typed."""
    throttling.hit("account_page", str(request.user.pk))
    found = find_communities(request.GET.get("q", "").strip())
    return JsonResponse({"communities": [{"id": str(each.pk), "name": label_of(each)} for each in found]})


@account_page(methods=READ_METHODS)
def detail(request: HttpRequest, request_id: UUID) -> HttpResponse:
    row = queries.own_request(person_of(request), request_id)
    state, badge = REQUESTS[RequestStatus(row.status)]
    if row.widens_id is None:
        scopes: Sequence[Any] = [SCOPES[Scope(scope)][0] for scope in row.scopes]
        communities: Iterable[str] = community_names(row.community_ids).values()
    else:
        scopes, communities = added_by([row])[row.pk]
    context = {
        "row": row,
        "state": state,
        "badge": badge,
        "scopes": scopes,
        "communities": communities,
        "has_token": row.agent is not None and queries.active_tokens(row.agent) > 0,
        "grants": asked_and_granted([row]).get(row.pk),
    }
    return render(request, "account_area/agents/request.html", context)


@account_page
def withdraw(request: HttpRequest, request_id: UUID) -> HttpResponse:
    row = queries.own_request(person_of(request), request_id)
    back = reverse("account_agent_request", args=[row.pk])
    if request.method == "POST":
        cancel_request(request_id=row.pk, by=person_of(request))
        messages.success(request, _("The request is withdrawn."))
        return redirect(back)
    explanation = _("Nobody decides on it any more, and its handle is free again. You can ask again.")
    if row.widens_id is not None:
        explanation = _("Nobody decides on it any more, and the agent stays as it is. You can ask again.")
    context = {
        "heading": _("Withdraw the request for @%(handle)s?") % {"handle": row.agent_handle},
        "explanation": explanation,
        "button": _("Withdraw"),
        "back": back,
        "danger": True,
    }
    return render(request, "account_area/confirm.html", context)
