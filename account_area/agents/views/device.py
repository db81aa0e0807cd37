"""The page on which a person confirms a program by its code: what it may do, who asked for it, and since when."""

from __future__ import annotations

from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _

from account_area.agents.communities import SEARCH_MAX
from account_area.agents.device_forms import AgentCodeForm, CodeForm
from account_area.page import account_page
from account_area.people import person_of
from account_area.sign_in.recent import can_confirm, is_recent
from account_area.submissions import OnceForm
from agents.models import Agent, RequestStatus
from kernel.api.addresses import client_network
from kernel.api.exceptions import RateLimited
from messaging.models import Account
from oauth import device_grants
from oauth.exceptions import DeviceCodeNotFound
from oauth.models import DeviceGrant

SHOWN_MAX = 20
AGENTS_MAX = 50


@account_page
def device(request: HttpRequest) -> HttpResponse:
    """Without a code its field; with one what it allows. Confirming and refusing name the code again."""
    person = person_of(request)
    code = (request.POST if request.method == "POST" else request.GET).get("user_code", "")
    if not code:
        return _entrance(request, person, CodeForm())
    try:
        grant = device_grants.find_for(person, user_code=code, network=client_network(request))
    except (DeviceCodeNotFound, RateLimited) as refusal:
        if request.method == "POST":
            raise
        form = CodeForm(request.GET)
        form.refuse(refusal)
        return _entrance(request, person, form)
    if request.POST.get("decision") == "refuse":
        device_grants.refuse(grant_id=grant.pk, by=person)
        messages.success(request, _("Refused. The program gets no token."))
        return redirect("account_device")
    if grant.decided_at is not None:
        return redirect("account_device")
    if grant.for_account and not is_recent(request) and can_confirm(person):
        return redirect(f"{reverse('account_reauthenticate')}?{urlencode({'next': _path_of(code)})}")
    return _confirmation(request, person, grant, code)


def _entrance(request: HttpRequest, person: Account, form: CodeForm) -> HttpResponse:
    confirmed = DeviceGrant.objects.of_person(person).undelivered().select_related("request").order_by("-created_at")
    context = {"form": form, "confirmed": confirmed[:SHOWN_MAX], "pending": RequestStatus.PENDING}
    return render(request, "account_area/agents/device.html", context)


def _confirmation(request: HttpRequest, person: Account, grant: DeviceGrant, code: str) -> HttpResponse:
    search = request.POST.get("search", "").strip()[:SEARCH_MAX]
    is_search = "find" in request.POST
    data = request.POST if request.method == "POST" else None
    form: OnceForm = (
        OnceForm(data) if grant.for_account else AgentCodeForm(data, grant=grant, own=_own(person), search=search)
    )
    if is_search:
        form.errors.clear()
    elif request.method == "POST" and form.is_valid() and (path := _confirm(form, person, grant)):
        messages.success(request, _("Confirmed. The program fetches its token as soon as it may have it."))
        return redirect(path)
    context = {
        "form": form,
        "grant": grant,
        "code": device_grants.shown(device_grants.normalized(code)),
        "search": search,
        "is_search": is_search,
    }
    return render(request, "account_area/agents/device_confirm.html", context)


def _confirm(form: OnceForm, person: Account, grant: DeviceGrant) -> str | None:
    def confirm() -> str:
        chosen = form.cleaned_data
        device_grants.confirm(
            grant_id=grant.pk, by=person, agent=chosen.get("own_agent"), arguments=chosen.get("arguments")
        )
        return reverse("account_device")

    return form.submit_once(person, confirm)


def _own(person: Account) -> list[Agent]:
    return list(Agent.objects.live().operated_by(person).select_related("account").order_by("-pk")[:AGENTS_MAX])


def _path_of(code: str) -> str:
    return f"{reverse('account_device')}?{urlencode({'user_code': code})}"
