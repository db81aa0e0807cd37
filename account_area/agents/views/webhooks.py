"""The webhooks of an agent. A secret is in the response that creates it, and nowhere else.

The form of a new webhook of an agent.

The webhooks of an agent, and their deliveries.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any
from uuid import UUID

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from account_area.agents import queries
from account_area.agents.texts import DELIVERY_ERRORS, DISABLED, EVENTS, UNVERIFIED, WEBHOOKS
from account_area.page import READ_METHODS, account_page
from account_area.people import person_of
from account_area.submissions import OnceForm
from agents.models import Agent
from kernel.api.serializers import validated
from messaging.changes.types import InboxType
from messaging.models import Webhook, WebhookStatus, WebhookTarget
from messaging.models.webhook import DELIVERIES_SHOWN, URL_MAX, WEBHOOKS_MAX, WebhookDelivery, WebhookQuerySet
from messaging.webhooks import services
from messaging.webhooks.exceptions import WebhookNotFound
from messaging.webhooks.serializers import NewWebhook


class WebhookForm(OnceForm):
    url = forms.CharField(
        label=_("Address"),
        max_length=URL_MAX,
        widget=forms.URLInput(attrs={"placeholder": "https://"}),
        help_text=_("https, reachable from the internet. Each event is sent there with a signature."),
    )
    types = forms.MultipleChoiceField(
        label=_("Events (optional)"),
        choices=list(EVENTS.items()),
        widget=forms.CheckboxSelectMultiple,
        required=False,
        help_text=_("Select none for all of them."),
    )

    def __init__(self, *args: Any, agent_id: object, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.agent_id = agent_id

    def clean(self) -> dict[str, Any]:
        """The arguments of `create_webhook` under the key `arguments`, by the rules of the API."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        if not self.errors:
            body = {"url": cleaned["url"], "types": cleaned["types"], "agentId": str(self.agent_id)}
            cleaned["arguments"] = self.carry_out(validated, serializer=NewWebhook, data=body)
        return cleaned


def webhooks_of(agent: Agent) -> list[Webhook]:
    return list(_own_webhooks(agent).order_by("-created_at", "-pk"))


def webhook_of(agent: Agent, webhook_id: UUID) -> Webhook:
    """Raises WebhookNotFound (404)."""
    found = _own_webhooks(agent).filter(pk=webhook_id).first()
    if found is None:
        raise WebhookNotFound
    return found


def deliveries_of(webhook: Webhook) -> list[WebhookDelivery]:
    return list(webhook.deliveries.order_by("-id")[:DELIVERIES_SHOWN])


def _own_webhooks(agent: Agent) -> WebhookQuerySet:
    return Webhook.objects.owned_by(agent.operator_id).filter(target_kind=WebhookTarget.AGENT, target_id=agent.pk)


@account_page(methods=READ_METHODS)
def index(request: HttpRequest, handle: str) -> HttpResponse:
    agent = _own(request, handle)
    rows = [(row, *_state_of(row)) for row in webhooks_of(agent)]
    context = _context(agent, webhooks=rows, is_full=len(rows) >= WEBHOOKS_MAX, maximum=WEBHOOKS_MAX)
    return render(request, "account_area/agents/webhooks.html", context)


@account_page
def create(request: HttpRequest, handle: str) -> HttpResponse:
    services.require_enabled()
    agent = _own(request, handle)
    form = WebhookForm(request.POST if request.method == "POST" else None, agent_id=agent.pk)
    if request.method == "POST" and form.is_valid():

        def make() -> tuple[Webhook, str]:
            return services.create_webhook(owner=person_of(request), **form.cleaned_data["arguments"])

        if response := _secret_once(request, agent, form, make):
            return response
    return render(request, "account_area/agents/webhook_form.html", _context(agent, form=form))


@account_page(methods=READ_METHODS)
def detail(request: HttpRequest, handle: str, webhook_id: UUID) -> HttpResponse:
    agent = _own(request, handle)
    webhook = webhook_of(agent, webhook_id)
    deliveries = [(row, DELIVERY_ERRORS.get(row.error, row.error)) for row in deliveries_of(webhook)]  # type: ignore[call-overload]
    context = _context(
        agent,
        webhook=webhook,
        state=_state_of(webhook),
        reason=DISABLED.get(webhook.disabled_reason, ""),  # type: ignore[call-overload]
        types=[EVENTS[InboxType(event)] for event in webhook.types],
        deliveries=deliveries,
        made="made" in request.GET,
    )
    return render(request, "account_area/agents/webhook.html", context)


@account_page(methods=["POST"])
def test(request: HttpRequest, handle: str, webhook_id: UUID) -> HttpResponse:
    services.require_enabled()
    agent = _own(request, handle)
    webhook = webhook_of(agent, webhook_id)
    services.test_webhook(webhook_id=webhook.pk, owner=person_of(request))
    messages.success(request, gettext("A test is sent. Its result is in the list in some seconds."))
    return redirect(_page_of(agent, webhook))


@account_page
def rotate(request: HttpRequest, handle: str, webhook_id: UUID) -> HttpResponse:
    agent = _own(request, handle)
    webhook = webhook_of(agent, webhook_id)
    form = OnceForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():

        def make() -> tuple[Webhook, str]:
            return services.rotate_webhook_secret(webhook_id=webhook.pk, owner=person_of(request))

        if response := _secret_once(request, agent, form, make):
            return response
    context = {
        "heading": gettext("Replace the secret?"),
        "explanation": gettext("For 24 hours, events are signed with the new secret and with the former one."),
        "button": gettext("Replace"),
        "back": _page_of(agent, webhook),
        "form": form,
    }
    return render(request, "account_area/confirm.html", context)


@account_page
def delete(request: HttpRequest, handle: str, webhook_id: UUID) -> HttpResponse:
    agent = _own(request, handle)
    webhook = webhook_of(agent, webhook_id)
    if request.method == "POST":
        services.delete_webhook(webhook_id=webhook.pk, owner=person_of(request))
        messages.success(request, gettext("The webhook is deleted."))
        return redirect("account_agent_webhooks", agent.account.handle)
    context = {
        "heading": gettext("Delete the webhook?"),
        "explanation": webhook.url,
        "button": gettext("Delete"),
        "back": _page_of(agent, webhook),
        "danger": True,
    }
    return render(request, "account_area/confirm.html", context)


def _secret_once(
    request: HttpRequest, agent: Agent, form: OnceForm, make: Callable[[], tuple[Webhook, str]]
) -> HttpResponse | None:
    """The page with the new secret; a redirect if an equal form has made it already; None: the form has errors."""
    path, made = form.submit_once_with_secret(person_of(request), make, partial(_made_at, agent))
    if not made:
        return redirect(path) if path else None
    webhook, secret = made
    return render(request, "account_area/agents/webhook_secret.html", _context(agent, webhook=webhook, secret=secret))


def _made_at(agent: Agent, webhook: Webhook) -> str:
    return f"{_page_of(agent, webhook)}?made"


def _context(agent: Agent, **more: Any) -> dict[str, Any]:
    return {"agent": agent, "tab": "webhooks", "is_enabled": settings.WEBHOOKS, **more}


def _state_of(webhook: Webhook) -> tuple[Any, str]:
    """The text and the class of its badge."""
    return UNVERIFIED if webhook.is_unverified else WEBHOOKS[WebhookStatus(webhook.status)]


def _page_of(agent: Agent, webhook: Webhook) -> str:
    return reverse("account_agent_webhook", args=[agent.account.handle, webhook.pk])


def _own(request: HttpRequest, handle: str) -> Agent:
    return queries.own_agent(person_of(request), handle)
