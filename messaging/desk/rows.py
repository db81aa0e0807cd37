from __future__ import annotations

from functools import partial
from typing import Any
from uuid import UUID

from django.contrib import admin, messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.core.exceptions import ValidationError
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse

from config.api.errors import ApiError
from messaging.desk.decisions import Decision, DecisionForm, in_words
from messaging.desk.display import page_of
from messaging.desk.paging import CountsSoFar
from messaging.desk.waiting import Waiting

BULK_MAX = 200


class DeskAdmin(admin.ModelAdmin):
    """Rows to look at. What can be done to one is a `Decision`: a button on its page, an action of the list.

    Whether somebody may look is the site's to say (`config.admin`).
    """

    decisions: tuple[Decision, ...] = ()
    paginator = CountsSoFar
    show_full_result_count = False
    list_per_page = 50
    list_max_show_all = BULK_MAX
    view_on_site = False
    # Counts beside each filter are a query each, over the whole table.
    show_facets = admin.ShowFacets.NEVER
    change_form_template = "admin/desk/row.html"

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def waiting(self) -> Waiting | None:
        """What the desk's first page tells of rows that wait for a decision."""
        return None

    def title_of(self, row: Any) -> str:
        return str(row)

    def facts(self, request: HttpRequest, row: Any) -> dict[str, Any]:
        """What the template of a row's page needs beyond the row."""
        return {}

    def page_after(self, request: HttpRequest, decision: Decision, row: Any) -> str:
        """Where a decision on one row leads."""
        return page_of(row)

    def get_urls(self) -> list[URLPattern]:
        return [
            path(
                f"<uuid:pk>/{decision.name}/",
                self.admin_site.admin_view(partial(self.decide, decision=decision)),
                name=self.url_name(decision.name),
            )
            for decision in self.decisions
        ] + super().get_urls()

    def url_name(self, page: str) -> str:
        return f"{self.opts.app_label}_{self.opts.model_name}_{page}"

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Handles are found with their @ as well."""
        return super().get_search_results(request, queryset, search_term.replace("@", ""))

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Any:
        """Django takes an empty `_to_field` for the name of a field."""
        return super().get_object(request, object_id, from_field or None)

    def response_action(  # type: ignore[override]  # the stubs have a parameter more than Django
        self, request: HttpRequest, queryset: QuerySet[Any]
    ) -> HttpResponse | None:
        """Refuses chosen values that are no ids: Django passes them to the database, which raises."""
        try:
            for chosen in request.POST.getlist(ACTION_CHECKBOX_NAME):
                self.opts.pk.to_python(chosen)
        except ValidationError:
            self.message_user(request, "Nothing was changed: what was chosen is no row of this list.", messages.ERROR)
            return None
        return super().response_action(request, queryset)

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        return {
            decision.name: (partial(_decide_on_many, decision=decision), decision.name, decision.label)
            for decision in self.decisions
            if decision.bulk
        }

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        row = self.get_object(request, object_id)
        more = {} if row is None else {"title": self.title_of(row), "subtitle": None, **self.choices(row)}
        more |= {} if row is None else self.facts(request, row)
        return super().change_view(request, object_id, form_url, (extra_context or {}) | more)

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        title = str(self.opts.verbose_name_plural).capitalize()
        return super().changelist_view(request, {"title": title, **(extra_context or {})})

    def choices(self, row: Any) -> dict[str, Any]:
        """The decisions that fit the row: as links, or with their form where they are at hand."""
        fitting = [decision for decision in self.decisions if decision.fits(row)]
        return {
            "linked": [decision for decision in fitting if not decision.at_hand],
            "at_hand": [
                {"decision": decision, "form": decision.form(row=row, decision=decision, auto_id=f"{decision.name}_%s")}
                for decision in fitting
                if decision.at_hand
            ],
        }

    def decide(self, request: HttpRequest, pk: UUID, decision: Decision) -> HttpResponse:
        """GET asks, POST does."""
        row = get_object_or_404(self.get_queryset(request), pk=pk)
        form = decision.form(request.POST if request.method == "POST" else None, row=row, decision=decision)
        if form.is_valid():
            self.settle(request, decision, [row], form.given())
            return HttpResponseRedirect(self.page_after(request, decision, row))
        return self.ask(request, decision, [row], form)

    def ask(self, request: HttpRequest, decision: Decision, rows: list[Any], form: DecisionForm) -> HttpResponse:
        context = self.admin_site.each_context(request) | {
            "title": f"{decision.label}: {rows[0]}" if len(rows) == 1 else f"{decision.label}: {len(rows)} chosen",
            "decision": decision,
            "form": form,
            "fits": any(decision.fits(row) for row in rows),
            "rows": rows,
            "opts": self.opts,
            "checkbox": ACTION_CHECKBOX_NAME,
            "in_list": "action" in request.POST,
            "standings": [(row, self.standing(row)) for row in rows],
            "list_url": reverse(f"admin:{self.url_name('changelist')}"),
        }
        return TemplateResponse(request, "admin/desk/decide.html", context)

    def standing(self, row: Any) -> str:
        """The state a row is in, in words, where that decides what can be done."""
        return ""

    def settle(self, request: HttpRequest, decision: Decision, rows: list[Any], given: dict[str, Any]) -> None:
        """Decide on each row by itself: one that somebody else was quicker with does not undo the others."""
        done = []
        for row in rows:
            try:
                decision.run(row, by=request.user, **given)
            except ApiError as refusal:
                self.message_user(request, f"Nothing was changed: {row}: {in_words(refusal)}.", messages.ERROR)
            else:
                done.append(row)
        if done:
            what = str(done[0]) if len(done) == 1 else f"{len(done)} {self.opts.verbose_name_plural}"
            self.message_user(request, f"{what}: {decision.done}.", messages.SUCCESS)


def _decide_on_many(
    desk: DeskAdmin, request: HttpRequest, chosen: QuerySet[Any], *, decision: Decision
) -> HttpResponse | None:
    """An action of a list: the first POST asks, the second, which the asking page sends, does."""
    rows = list(chosen[: BULK_MAX + 1])
    if len(rows) > BULK_MAX:
        desk.message_user(request, f"At most {BULK_MAX} at once.", messages.ERROR)
        return None
    form = decision.form(request.POST if "confirmed" in request.POST else None, row=None, decision=decision)
    if not form.is_valid():
        return desk.ask(request, decision, rows, form)
    desk.settle(request, decision, rows, form.given())
    return None
