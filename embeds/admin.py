"""The admin of embeds."""

from __future__ import annotations

from datetime import date
from typing import Any

from django.conf import settings
from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils.html import format_html
from django.utils.safestring import SafeString

from embeds.analytics.ingest import VIEW, VIEW_IN_PAGE, KnownEvent
from embeds.analytics.summary import Summary, period, summarize
from embeds.checkup import NoAddress, Reason, check_page
from embeds.embed_code import embed_code
from embeds.models import Embed, EmbedStatus
from embeds.services import disable_embed, enable_embed, trust_embed, untrust_embed
from kernel.admin.actions import AdminAction
from kernel.admin.formatting import age, as_fields
from kernel.api.ids import is_id
from kernel.database.sql import database_now
from kernel.plots import Plot, Series
from messaging.moderation.lists.many import ManyRowsAdmin


def daily_chart(summary: Summary, *, is_inline: bool) -> SafeString:
    """Views, clicks and visitors, each with a plot: their numbers differ too much for one scale.

    A discussion in the page opens when it comes near the screen.
    """
    days = list(summary.days)
    view, click = (
        (("Views of pages", VIEW_IN_PAGE), ("Discussions reached", KnownEvent.PANEL_OPEN))
        if is_inline
        else (("Views of the trigger", VIEW), ("Clicks on the trigger", KnownEvent.TRIGGER_CLICK))
    )
    series = {
        view[0]: Series("views", _counts(summary, view[1])),
        click[0]: Series("opened" if is_inline else "clicks", _counts(summary, click[1])),
        "Visitors": Series("visitors", summary.visitors),
    }
    plots = [Plot(title, [one], days) for title, one in series.items()]
    return render_to_string("admin/desk/plots.html", {"plots": plots})


def _counts(summary: Summary, event: KnownEvent) -> dict[date, int]:
    return {day: counts[event] for day, counts in summary.days.items()}


DISABLE = AdminAction(
    name="disable",
    label="Disable",
    confirmation=(
        "The widget disappears from its pages at once and accepts no more posts. Its owner cannot enable it again."
    ),
    success_message="disabled",
    run=lambda row, **arguments: disable_embed(embed_id=row.pk, **arguments),
    is_available=lambda row: row.status != EmbedStatus.DISABLED,
    needs_reason=True,
)
ENABLE = AdminAction(
    name="enable",
    label="Enable",
    confirmation="Restores the earlier status: active or paused.",
    success_message="enabled",
    run=lambda row, **arguments: enable_embed(embed_id=row.pk, **arguments),
    is_available=lambda row: row.status == EmbedStatus.DISABLED,
)

TRUST = AdminAction(
    name="trust",
    label="Trust",
    confirmation=(
        "Permalinks of posts of its community take readers on to pages on the hosts of its whitelist. Hosts that its "
        "owner adds later are not trusted."
    ),
    success_message="trusted",
    run=lambda row, **arguments: trust_embed(embed_id=row.pk, **arguments),
    is_available=lambda row: row.has_untrusted_entries,
    undo="untrust",
)
UNTRUST = AdminAction(
    name="untrust",
    label="Do not trust",
    confirmation="Permalinks of posts of its community show the thread again, unless it has proved the host.",
    success_message="not trusted",
    run=lambda row, **arguments: untrust_embed(embed_id=row.pk, **arguments),
    is_available=lambda row: row.trusted_entries is not None,
    undo="trust",
)


@admin.register(Embed)
class EmbedAdmin(ManyRowsAdmin):
    row_actions = (DISABLE, ENABLE, TRUST, UNTRUST)
    change_form_template = "admin/embeds/embed.html"
    list_display = ["name", "owner", "community", "status", "runs_on", "since"]
    list_filter = ["status", "created_at"]
    list_select_related = ["owner", "community"]
    ordering = ["-created_at", "-id"]
    search_fields = ["name"]
    search_help_text = "Part of a name, an @handle, an id, or an entry of the whitelist."
    fields = [
        "name",
        "status",
        "chart",
        "description",
        "owner",
        "community",
        "code",
        "runs_on_domains",
        "never_on_domains",
        "trusted",
        "rules",
        "trigger",
        "words",
        "sign_in",
        "sign_in_url",
        "jwks_url",
        "since",
        "changed",
    ]
    readonly_fields = [
        *(
            "chart",
            "code",
            "runs_on_domains",
            "never_on_domains",
            "trusted",
            "rules",
            "trigger",
            "words",
            "since",
            "changed",
        ),
    ]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Embed]:
        return Embed.objects.live()

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Embed], search_term: str
    ) -> tuple[QuerySet[Embed], bool]:
        term = search_term.strip()
        return (queryset.filter(_matches(term)) if term else queryset), False

    def extra_context(self, request: HttpRequest, row: Embed) -> dict[str, Any]:
        address = request.GET.get("address", "").strip()
        return {"address": address, "verdict": verdict(row, address) if address else ""}

    @admin.display(description="runs on")
    def runs_on(self, embed: Embed) -> str:
        entries = ", ".join(embed.domain_whitelist[:3]) or "any domain"
        return f"{entries}, …" if len(embed.domain_whitelist) > 3 else entries

    @admin.display(description="last 30 days")
    def chart(self, embed: Embed) -> str:
        first, last = period(None, None, today=database_now().date())
        return daily_chart(summarize(embed_id=embed.pk, first=first, last=last), is_inline=embed.is_inline)

    @admin.display(description="domain whitelist")
    def runs_on_domains(self, embed: Embed) -> str:
        return as_fields(embed.domain_whitelist)

    @admin.display(description="domain blacklist")
    def never_on_domains(self, embed: Embed) -> str:
        return as_fields(embed.domain_blacklist)

    @admin.display(description="trusted entries")
    def trusted(self, embed: Embed) -> str:
        return as_fields(embed.trusted_entries or [])

    @admin.display(description="page rules")
    def rules(self, embed: Embed) -> str:
        return as_fields(embed.page_rules)

    @admin.display(description="trigger")
    def trigger(self, embed: Embed) -> str:
        return as_fields(embed.trigger_config)

    @admin.display(description="blocked words")
    def words(self, embed: Embed) -> str:
        return as_fields(embed.blocked_words)

    @admin.display(ordering="created_at")
    def since(self, embed: Embed) -> str:
        return age(embed.created_at)

    @admin.display(ordering="updated_at")
    def changed(self, embed: Embed) -> str:
        return age(embed.updated_at)

    @admin.display(description="embed code")
    def code(self, embed: Embed) -> str:
        code = embed_code(app_url=settings.APP_URL, embed_id=embed.pk, is_inline=embed.is_inline)
        return format_html("<code>{}</code>", code)


NOT_SHOWN = {
    Reason.DISABLED: "the embed is disabled",
    Reason.PAUSED: "the embed is paused",
    Reason.BLACKLISTED: "its domain lists do not allow this host",
    Reason.NOT_WHITELISTED: "its domain lists do not allow this host",
    Reason.NO_PATTERN: "its page rules do not include this path",
    Reason.EXCLUDED: "its page rules do not include this path",
}


def verdict(embed: Embed, address: str) -> str:
    """Return a sentence that states whether the embed shows on the page at `address`, and if not, why."""
    try:
        checked = check_page(embed, address)
    except NoAddress:
        return "Enter a full address, such as https://example.com/blog."
    return "Shown." if checked.is_shown else f"Not shown: {NOT_SHOWN[checked.reason]}."


def _matches(term: str) -> Q:
    if is_id(term):
        return Q(pk=term) | Q(owner=term) | Q(community=term)
    if term.startswith("@"):
        return Q(owner__handle=term[1:].lower())
    return Q(name__icontains=term) | Q(domain_whitelist__contains=[term.lower()])
