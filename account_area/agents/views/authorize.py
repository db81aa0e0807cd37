"""The page on which a person lets a program that speaks MCP act as one of their agents (OAuth 2.1)."""

from __future__ import annotations

from urllib.parse import urlencode, urlsplit

from django import forms
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils.translation import gettext_lazy as _

from account_area.forms import AccountForm
from account_area.page import account_page, policy_text
from account_area.people import person_of
from agents.models import Agent
from messaging.models import Account
from oauth import code_grants
from oauth.exceptions import InvalidTarget

AGENTS_MAX = 50


class ConsentForm(AccountForm):
    agent = forms.ModelChoiceField(label=_("Which agent gets the token?"), queryset=Agent.objects.none())

    def __init__(self, *args: object, person: Account, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        own = Agent.objects.operated_by(person).exclude(pk__in=Agent.objects.stopped().values("pk"))
        self.fields["agent"].queryset = own.select_related("account")  # type: ignore[attr-defined]


@account_page
def authorize(request: HttpRequest) -> HttpResponse:
    """Nothing is redirected until client and address are known; each refusal after that goes to the program."""
    if not settings.OAUTH:
        raise Http404
    sent = request.GET
    address = sent.get("redirect_uri", "")
    client = code_grants.client_of(sent.get("client_id", ""), address)
    error = _error_in(request)
    if error:
        return _back(request, address, error=error)
    person = person_of(request)
    is_sent = request.method == "POST"
    if is_sent and request.POST.get("decision") != "confirm":
        return _back(request, address, error="access_denied")
    form = ConsentForm(request.POST if is_sent else None, person=person)
    if is_sent and form.is_valid():
        agent: Agent = form.cleaned_data["agent"]
        challenge = sent["code_challenge"]
        code = code_grants.consent(
            client=client, by=person, agent_id=agent.pk, redirect_uri=address, challenge=challenge
        )
        return _back(request, address, code=code)
    parts = urlsplit(address)
    context = {"client": client, "form": form, "host": parts.netloc}
    response = render(request, "account_area/agents/authorize.html", context)
    # Browsers apply form-action to the redirect after the form, too.
    origin = f"{parts.scheme}://{parts.netloc}"
    response.headers["Content-Security-Policy"] = policy_text(**{"form-action": f"'self' {origin}"})
    return response


def _error_in(request: HttpRequest) -> str:
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
    return ""


def _back(request: HttpRequest, address: str, **fields: str) -> HttpResponse:
    """Go back to the program, with `iss` against mixed-up servers (RFC 9207)."""
    query = fields | {"iss": settings.BASE_URL}
    if "state" in request.GET:
        query["state"] = request.GET["state"]
    return HttpResponseRedirect(f"{address}{'&' if urlsplit(address).query else '?'}{urlencode(query)}")
