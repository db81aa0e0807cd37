"""The tokens of an agent. The value of a token is in the response that creates it, and nowhere else.

A second press of the button that creates one redirects to the list, which says that the value was shown.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _

from account_area.agents import queries
from account_area.agents.forms import RotationForm, TokenForm
from account_area.agents.snippets import PLACEHOLDER, snippets_for
from account_area.agents.texts import TOKENS
from account_area.page import READ_METHODS, account_page
from account_area.people import person_of
from account_area.submissions import OnceForm
from agents.models import ACTIVE_MAX, Agent, AgentToken, TokenStatus
from agents.services import create_token, revoke_token, rotate_token
from kernel.api.ids import is_id

WORKING = {TokenStatus.ACTIVE, TokenStatus.SUSPENDED}


@account_page(methods=READ_METHODS)
def index(request: HttpRequest, handle: str) -> HttpResponse:
    agent = _own(request, handle)
    tokens = queries.tokens_of(agent)
    made = request.GET.get("made", "")
    context = {
        "agent": agent,
        "tab": "tokens",
        "tokens": [(token, *TOKENS[token.status], token.status in WORKING) for token in tokens],
        "active": queries.active_tokens(agent),
        "active_max": ACTIVE_MAX,
        "made": next((token for token in tokens if is_id(made) and token.pk == UUID(made)), None),
    }
    return render(request, "account_area/agents/tokens.html", context)


@account_page
def create(request: HttpRequest, handle: str) -> HttpResponse:
    agent = _own(request, handle)
    form = TokenForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():

        def make() -> tuple[AgentToken, str]:
            return create_token(request_id=agent.request.pk, by=person_of(request), **form.cleaned_data["arguments"])

        if response := _made_once(request, agent, form, make):
            return response
    context = {"agent": agent, "tab": "tokens", "form": form}
    return render(request, "account_area/agents/token_form.html", context)


@account_page
def rotate(request: HttpRequest, handle: str, token_id: UUID) -> HttpResponse:
    agent = _own(request, handle)
    token = queries.own_token(agent, token_id)
    form = RotationForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():

        def make() -> tuple[AgentToken, str]:
            ends = form.cleaned_data["old_ends_in"]
            return rotate_token(token_id=token.pk, by=person_of(request), old_ends_in=ends)[:2]

        if response := _made_once(request, agent, form, make):
            return response
    # Only of what is shown: a second press sends the choice of the first, which may have filled the list.
    if queries.active_tokens(agent) >= ACTIVE_MAX:
        form.offer_now_only()
    context = {"agent": agent, "tab": "tokens", "form": form, "token": token}
    return render(request, "account_area/agents/token_rotate.html", context)


@account_page
def revoke(request: HttpRequest, handle: str, token_id: UUID) -> HttpResponse:
    agent = _own(request, handle)
    token = queries.own_token(agent, token_id)
    back = _list_of(agent)
    if request.method == "POST":
        revoke_token(token_id=token.pk, by=person_of(request))
        messages.success(request, _("The token %(prefix)s… is revoked.") % {"prefix": token.prefix})
        return redirect(back)
    context = {
        "heading": _("Revoke the token %(prefix)s…?") % {"prefix": token.prefix},
        "explanation": _("It ends at once and for good: what uses it gets the error 401."),
        "button": _("Revoke"),
        "back": back,
        "danger": True,
    }
    return render(request, "account_area/confirm.html", context)


def _made_once(
    request: HttpRequest, agent: Agent, form: OnceForm, make: Callable[[], tuple[AgentToken, str]]
) -> HttpResponse | None:
    """The page with the new token; a redirect if an equal form has made it already; None: the form has errors."""
    path, made = form.submit_once_with_secret(person_of(request), make, partial(_made_at, agent))
    if not made:
        return redirect(path) if path else None
    token, value = made
    context = {
        "agent": agent,
        "tab": "tokens",
        "token": token,
        "value": value,
        "snippets": snippets_for(agent),
        "placeholder": PLACEHOLDER,
    }
    return render(request, "account_area/agents/token_made.html", context)


def _made_at(agent: Agent, token: AgentToken) -> str:
    return f"{_list_of(agent)}?made={token.pk}"


def _list_of(agent: Agent) -> str:
    return reverse("account_agent_tokens", args=[agent.account.handle])


def _own(request: HttpRequest, handle: str) -> Agent:
    return queries.own_agent(person_of(request), handle)
