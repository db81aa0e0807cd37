"""The page on which a person lets a program act as one of their agents (OAuth 2.1), and the programs they let in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode, urlsplit
from uuid import UUID

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from account_area.agents.texts import SCOPES
from account_area.forms import AccountForm
from account_area.page import READ_METHODS, account_page, policy_text
from account_area.people import person_of
from agents.models import Agent, AgentRequest, Scope
from kernel.api.exceptions import ApiError
from oauth import clients, code_grants
from oauth.exceptions import InvalidTarget
from oauth.models import OAuthClient

AGENTS_MAX = 50


class ConsentForm(AccountForm):
    """Which agent, and which of the rights that were asked for. Nothing is chosen where there is a choice."""

    version = forms.CharField(widget=forms.HiddenInput)
    agent = forms.ChoiceField(label=_("Which agent gets the token?"), widget=forms.RadioSelect)
    scopes = forms.MultipleChoiceField(label=_("What may it do?"), widget=forms.CheckboxSelectMultiple)

    def __init__(self, *args: Any, own: list[Agent], asked: list[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.own = {str(agent.pk): agent for agent in own}
        agent_field: Any = self.fields["agent"]
        scope_field: Any = self.fields["scopes"]
        agent_field.choices = [(pk, _named(agent)) for pk, agent in self.own.items()]
        scope_field.choices = [(scope, SCOPES[Scope(scope)][0]) for scope in asked]
        self.initial["scopes"] = asked
        if len(own) == 1:
            self.initial["agent"] = str(own[0].pk)

    def clean(self) -> dict[str, Any]:
        agent, chosen = self.own.get(self.cleaned_data.get("agent", "")), self.cleaned_data.get("scopes")
        if agent and chosen and not set(chosen) & set(agent.scopes):
            self.add_error("agent", gettext("This agent may do none of this. Ask for more rights on its page."))
        return self.cleaned_data


@account_page
def authorize(request: HttpRequest) -> HttpResponse:
    """Nothing is redirected until client and address are known; each refusal after that goes to the program."""
    if not settings.OAUTH:
        raise Http404
    person, sent = person_of(request), request.GET
    address = sent.get("redirect_uri", "")
    client = clients.client_of(sent.get("client_id", ""), address, by=person)
    asked = _asked(request)
    if error := _error_in(request, asked):
        return _back(request, address, error=error)
    is_sent = request.method == "POST"
    if is_sent and request.POST.get("decision") != "confirm":
        return _back(request, address, error="access_denied")
    version = clients.version_of(client)
    if is_sent and request.POST.get("version") != version:
        messages.warning(request, gettext("The program has changed what it says about itself. Read it again."))
        return redirect(request.get_full_path())
    own = list(Agent.objects.live().operated_by(person).select_related("account", "operator").order_by("-pk"))
    form = ConsentForm(
        request.POST if is_sent else None,
        own=[agent for agent in own[:AGENTS_MAX] if not agent.is_stopped],
        asked=asked,
        initial={"version": version},
    )
    if is_sent and form.is_valid():
        try:
            code = code_grants.consent(
                client=client,
                by=person,
                agent_id=UUID(form.cleaned_data["agent"]),
                scopes=form.cleaned_data["scopes"],
                redirect_uri=address,
                challenge=sent["code_challenge"],
            )
        except ApiError as refusal:
            form.refuse(refusal)
        else:
            return _back(request, address, code=code)
    return _page(request, client, form, address)


def _page(request: HttpRequest, client: OAuthClient, form: ConsentForm, address: str) -> HttpResponse:
    parts = urlsplit(address)
    context = {
        "client": client,
        "form": form,
        "host": parts.netloc,
        "document_host": urlsplit(client.metadata_url or "").netloc,
        "is_loopback": clients.is_loopback(address),
        "pending": AgentRequest.objects.asked_by(person_of(request)).pending()[:AGENTS_MAX],
    }
    response = render(request, "account_area/agents/authorize.html", context)
    # Browsers apply form-action to the redirect after the form, too.
    origin = f"{parts.scheme}://{parts.netloc}"
    response.headers["Content-Security-Policy"] = policy_text(**{"form-action": f"'self' {origin}"})
    return response


@account_page(methods=READ_METHODS)
def index(request: HttpRequest) -> HttpResponse:
    rows = [
        (program, [(consent, _rights(consent.scopes)) for consent in program.consents])
        for program in code_grants.programs_of(person_of(request))
    ]
    return render(request, "account_area/agents/programs.html", {"programs": rows})


@account_page
def revoke(request: HttpRequest, program_id: UUID) -> HttpResponse:
    back = reverse("account_programs")
    if request.method == "POST":
        code_grants.revoke_program(program_id=program_id, by=person_of(request))
        messages.success(request, gettext("The program is revoked. All its tokens have ended."))
        return redirect(back)
    name = code_grants.program_of(person_of(request), program_id).name
    context = {
        "heading": gettext("Revoke %(program)s?") % {"program": name},
        "explanation": gettext("All its tokens end at once. To use it again, let it in again."),
        "button": gettext("Revoke"),
        "back": back,
        "danger": True,
    }
    return render(request, "account_area/confirm.html", context)


def _named(agent: Agent) -> str:
    return f"@{agent.account.handle} · {agent.account.name} ({_rights(agent.scopes)})"


def _rights(scopes: Sequence[str]) -> str:
    return ", ".join(str(SCOPES[Scope(scope)][0]) for scope in scopes)


def _asked(request: HttpRequest) -> list[str]:
    """The scopes that the program names, or all. Others than ours are ignored, since programs send those of OpenID."""
    named = request.GET.get("scope", "").split()
    return [scope for scope in Scope.values if scope in named or not named]


def _error_in(request: HttpRequest, asked: list[str]) -> str:
    sent = request.GET
    if any(len(sent.getlist(name)) > 1 for name in sent):
        return "invalid_request"
    if sent.get("response_type") != "code":
        return "unsupported_response_type"
    if not code_grants.is_challenge(sent.get("code_challenge", ""), sent.get("code_challenge_method", "")):
        return "invalid_request"
    try:
        code_grants.require_resource(sent.get("resource", ""))
    except InvalidTarget as refusal:
        return refusal.code
    return "" if asked else "invalid_scope"


def _back(request: HttpRequest, address: str, **fields: str) -> HttpResponse:
    """Go back to the program, with `iss` against mixed-up servers (RFC 9207)."""
    query = fields | {"iss": settings.BASE_URL}
    if "state" in request.GET:
        query["state"] = request.GET["state"]
    return HttpResponseRedirect(f"{address}{'&' if urlsplit(address).query else '?'}{urlencode(query)}")
