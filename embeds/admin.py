"""The super admins' view of embeds: what they are, what happens on them, and a switch. Owners change the rest."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from django.conf import settings
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone

from config.api.ids import is_id
from embeds import domains
from embeds.analytics.summary import period, summarize
from embeds.chart import daily_chart
from embeds.embed_code import embed_code
from embeds.models import Embed, EmbedStatus
from embeds.path_patterns import shows_on
from embeds.services import disable_embed, enable_embed

REASON_MAX = 500
DECISIONS: dict[str, Callable[..., Embed]] = {"disable": disable_embed, "enable": enable_embed}


@admin.register(Embed)
class EmbedAdmin(admin.ModelAdmin):
    list_display = ["name", "owner", "community", "status", "runs_on", "created_at"]
    list_filter = ["status", "created_at"]
    list_select_related = ["owner", "community"]
    ordering = ["-created_at", "-id"]
    show_full_result_count = False
    search_fields = ["name"]
    search_help_text = "Part of a name, an @handle, an id, or a domain as in the whitelist."
    fields = [
        "name",
        "status",
        "chart",
        "description",
        "owner",
        "community",
        "code",
        "domain_whitelist",
        "domain_blacklist",
        "page_rules",
        "trigger_config",
        "blocked_words",
        "created_at",
        "updated_at",
    ]
    readonly_fields = ["chart", "code"]

    def has_module_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.is_active and request.user.is_superuser)

    def has_view_permission(self, request: HttpRequest, obj: Embed | None = None) -> bool:
        return self.has_module_permission(request)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Embed | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Embed | None = None) -> bool:
        return False

    def get_queryset(self, request: HttpRequest) -> QuerySet[Embed]:
        return Embed.objects.live()

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Embed], search_term: str
    ) -> tuple[QuerySet[Embed], bool]:
        term = search_term.strip()
        return (queryset.filter(_named(term)) if term else queryset), False

    def get_urls(self) -> list[URLPattern]:
        return [
            path(
                f"<uuid:embed_id>/{decision}/",
                self.admin_site.admin_view(partial(self.decide, decision=decision)),
                name=f"embeds_embed_{decision}",
            )
            for decision in DECISIONS
        ] + super().get_urls()

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        embed = self.get_object(request, object_id) if self.has_view_permission(request) else None
        address = request.GET.get("address", "").strip()
        more = {
            "decision": None if embed is None else _decision_for(embed),
            "address": address,
            "verdict": verdict(embed, address) if embed is not None and address else "",
        }
        return super().change_view(request, object_id, form_url, (extra_context or {}) | more)

    def decide(self, request: HttpRequest, embed_id: UUID, decision: str) -> HttpResponse:
        """GET asks, POST does."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        embed = get_object_or_404(self.get_queryset(request), pk=embed_id)
        if request.method == "POST":
            reason = request.POST.get("reason", "").strip()[:REASON_MAX]
            DECISIONS[decision](embed_id=embed_id, by=request.user, reason=reason)
            self.message_user(request, f"{embed.name}: {decision}d.", messages.SUCCESS)
            return HttpResponseRedirect(reverse("admin:embeds_embed_change", args=[embed_id]))
        more = {"embed": embed, "decision": decision, "reason_max": REASON_MAX, "opts": self.opts}
        context = self.admin_site.each_context(request) | more | {"title": f"{decision.title()} this embed?"}
        return TemplateResponse(request, "admin/embeds/embed/decide.html", context)

    @admin.display(description="runs on")
    def runs_on(self, embed: Embed) -> str:
        first = ", ".join(embed.domain_whitelist[:3]) or "any domain"
        return f"{first}, …" if len(embed.domain_whitelist) > 3 else first

    @admin.display(description="last 30 days")
    def chart(self, embed: Embed) -> str:
        first, last = period(None, None, today=timezone.now().date())
        return daily_chart(summarize(embed_id=embed.pk, first=first, last=last))

    @admin.display(description="embed code")
    def code(self, embed: Embed) -> str:
        return embed_code(app_url=settings.APP_URL, embed_id=embed.pk)


def verdict(embed: Embed, address: str) -> str:
    """Whether and why the embed shows on a page, as a sentence."""
    if not address.startswith(("http://", "https://")):
        return "Write a whole address, such as https://example.com/blog."
    if embed.status != EmbedStatus.ACTIVE:
        return f"Not shown: the embed is {embed.status}."
    if not embed.allows_host(domains.host_of_url(address)):
        return "Not shown: its domain lists keep it off this host."
    if not shows_on(embed.page_rules, urlsplit(address).path or "/"):
        return "Not shown: its page rules leave this path out."
    return "Shown."


def _decision_for(embed: Embed) -> str:
    return "enable" if embed.status == EmbedStatus.DISABLED else "disable"


def _named(term: str) -> Q:
    if is_id(term):
        return Q(pk=term) | Q(owner=term) | Q(community=term)
    if term.startswith("@"):
        return Q(owner__handle=term[1:].lower())
    return Q(name__icontains=term) | Q(domain_whitelist__contains=[term.lower()])
