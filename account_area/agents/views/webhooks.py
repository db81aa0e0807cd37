"""The webhooks of an agent. A secret is in the response that creates it, and nowhere else."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _

from account_area.agents import queries, webhook_queries
from account_area.agents.texts import DELIVERY_ERRORS, DISABLED, EVENTS, UNVERIFIED, WEBHOOKS
from account_area.agents.webhook_forms import WebhookForm
from account_area.page import READ_METHODS, account_page
from account_area.people import person_of
from account_area.submissions import OnceForm
from agents.models import Agent
from messaging.changes.types import InboxType
from messaging.models import Webhook, WebhookStatus
from messaging.models.webhook import WEBHOOKS_MAX
from messaging.webhooks import services


@account_page(methods=READ_METHODS)
def index(request: HttpRequest, handle: str) -> HttpResponse:
    agent = _own(request, handle)
    rows = [(row, *_state_of(row)) for row in webhook_queries.webhooks_of(agent)]
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
    webhook = webhook_queries.webhook_of(agent, webhook_id)
    deliveries = [(row, DELIVERY_ERRORS.get(row.error, row.error)) for row in webhook_queries.deliveries_of(webhook)]  # type: ignore[call-overload]
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
    webhook = webhook_queries.webhook_of(agent, webhook_id)
    services.test_webhook(webhook_id=webhook.pk, owner=person_of(request))
    messages.success(request, _("A test is sent. Its result is in the list in some seconds."))
    return redirect(_page_of(agent, webhook))


@account_page
def rotate(request: HttpRequest, handle: str, webhook_id: UUID) -> HttpResponse:
    agent = _own(request, handle)
    webhook = webhook_queries.webhook_of(agent, webhook_id)
    form = OnceForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():

        def make() -> tuple[Webhook, str]:
            return services.rotate_webhook_secret(webhook_id=webhook.pk, owner=person_of(request))

        if response := _secret_once(request, agent, form, make):
            return response
    context = {
        "heading": _("Replace the secret?"),
        "explanation": _("For 24 hours, events are signed with the new secret and with the former one."),
        "button": _("Replace"),
        "back": _page_of(agent, webhook),
        "form": form,
    }
    return render(request, "account_area/confirm.html", context)


@account_page
def delete(request: HttpRequest, handle: str, webhook_id: UUID) -> HttpResponse:
    agent = _own(request, handle)
    webhook = webhook_queries.webhook_of(agent, webhook_id)
    if request.method == "POST":
        services.delete_webhook(webhook_id=webhook.pk, owner=person_of(request))
        messages.success(request, _("The webhook is deleted."))
        return redirect("account_agent_webhooks", agent.account.handle)
    context = {
        "heading": _("Delete the webhook?"),
        "explanation": webhook.url,
        "button": _("Delete"),
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
