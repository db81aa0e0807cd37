from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString

from kernel.admin.actions import AdminAction
from kernel.admin.formatting import NOTHING, age, as_fields, badge, lines
from kernel.api.ids import is_id
from messaging.models import DisabledReason, Webhook, WebhookStatus
from messaging.models.webhook import DELIVERIES_SHOWN
from messaging.moderation.lists.many import ManyRowsAdmin
from messaging.webhooks.posting import Receiver
from messaging.webhooks.services import disable_webhook, enable_webhook
from messaging.webhooks.targets import with_target_names

COMPUTED = ["verified", "failing", "next_try", "log", "since"]
BADGES = {WebhookStatus.ACTIVE: "good", WebhookStatus.FAILING: "waiting", WebhookStatus.DISABLED: "bad"}
DISABLE = AdminAction(
    name="disable",
    label="Disable",
    confirmation=(
        "Nothing more is sent by this webhook. The owner sees the reason, can neither enable nor delete it, and cannot "
        "create another with the same URL for this embed or agent."
    ),
    success_message="disabled",
    run=lambda row, **arguments: disable_webhook(webhook_id=row.pk, **arguments),
    is_available=lambda row: row.disabled_reason != DisabledReason.SUPER_ADMIN,
    needs_reason=True,
)
ENABLE = AdminAction(
    name="enable",
    label="Enable",
    confirmation="The events that were not sent, of at most 30 days, are sent.",
    success_message="enabled",
    run=lambda row, **arguments: enable_webhook(webhook_id=row.pk, **arguments),
    is_available=lambda row: row.status == WebhookStatus.DISABLED,
)


@admin.register(Webhook)
class WebhookAdmin(ManyRowsAdmin):
    """Webhooks without their secrets, and only the hosts of their URLs: a path may contain a secret of the receiver."""

    row_actions = (DISABLE, ENABLE)
    list_display = ["host", "owner", "reports", "state", "why", "since"]
    list_filter = ["status", "disabled_reason", "target_kind", ("verified_at", admin.EmptyFieldListFilter)]
    list_select_related = ["owner"]
    ordering = ["-created_at", "-id"]
    search_fields = ["owner__handle"]
    search_help_text = "Part of the owner's handle, or the id of a webhook, embed or agent."
    fields = ["state", "why", "host", "owner", "reports", "reported", *COMPUTED]
    readonly_fields = ["state", "why", "host", "reports", "reported", *COMPUTED]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Webhook]:
        return with_target_names(Webhook.objects.all())

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        term = search_term.strip()
        if is_id(term):
            return queryset.filter(pk=term) | queryset.filter(target_id=term), False
        return super().get_search_results(request, queryset, search_term)

    def status_text(self, row: Webhook) -> str:
        return str(row.get_status_display())

    @admin.display(description="host")
    def host(self, row: Webhook) -> str:
        try:
            return Receiver.of(row.url).authority
        except ValueError:
            return "not allowed any more"

    @admin.display(description="of")
    def reports(self, row: Any) -> str:
        return f"{row.target_kind} {row.target_name or 'that is gone'}"

    @admin.display(description="state", ordering="status")
    def state(self, row: Webhook) -> SafeString:
        if row.is_unverified:
            return badge("unverified", "waiting")
        return badge(row.status, BADGES[WebhookStatus(row.status)])

    @admin.display(description="disabled because")
    def why(self, row: Webhook) -> str:
        return ": ".join(filter(None, [row.get_disabled_reason_display(), row.disabled_details])) or NOTHING

    @admin.display(description="receiver verified")
    def verified(self, row: Webhook) -> str | SafeString:
        return age(row.verified_at)

    @admin.display(description="failing since", ordering="failing_since")
    def failing(self, row: Webhook) -> str | SafeString:
        return age(row.failing_since)

    @admin.display(description="next attempt")
    def next_try(self, row: Webhook) -> str | SafeString:
        return age(row.next_attempt_at)

    @admin.display(description="last attempts")
    def log(self, row: Webhook) -> str | SafeString:
        attempts = row.deliveries.order_by("-id")[:DELIVERIES_SHOWN]
        return lines([format_html("{}: {} ({} ms)", age(each.at), each, each.duration_ms) for each in attempts])

    @admin.display(description="events")
    def reported(self, row: Webhook) -> str | SafeString:
        return as_fields(row.types) if row.types else "all"

    @admin.display(description="age", ordering="created_at")
    def since(self, row: Webhook) -> str | SafeString:
        return age(row.created_at)
