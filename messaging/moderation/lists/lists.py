"""The base class of lists in which rows are decided."""

from __future__ import annotations

from itertools import zip_longest
from typing import Any
from uuid import UUID

from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.forms import Script
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.template.loader import render_to_string
from django.urls import URLPattern, path, reverse
from django.utils.safestring import SafeString

from kernel.admin.actions import AdminAction
from kernel.admin.exporting import Columns, csv_response
from messaging.models import ReasonFor
from messaging.models.ready_reason import reasons_for
from messaging.moderation.lists import saved
from messaging.moderation.lists.decidable import DecidableRows
from messaging.moderation.lists.deciding import decide_one


class DecidingAdmin(DecidableRows):
    """Each row of the list has buttons for the actions with a key, and a bar below the list has those of the current
    row. `static/admin/desk/queue.js` adds the keys, and decides without loading the page again.
    """

    change_list_template = "admin/desk/list.html"
    list_per_page = 25
    # For what reasons are offered; each can be edited before it is sent.
    decides: ReasonFor
    csv_columns: Columns = {}

    class Media:
        css = {"all": ["admin/desk/queue.css"]}
        js = [Script("admin/desk/queue.js", defer=True)]

    def prepare_rows(self, rows: list[Any]) -> None:
        """Load what the columns of the list show, for all rows at once."""

    def review_template(self, row: Any) -> tuple[str, dict[str, Any]]:
        """The template of the fold-out of a row, and its context."""
        raise NotImplementedError

    def available_actions(self, row: Any) -> dict[str, Any]:
        """Actions with a key are in the bar of the page, not among its links."""
        available = super().available_actions(row)
        available["linked_actions"] = [action for action in available["linked_actions"] if not action.key]
        bar = {
            "bar_actions": self.listed_actions(row),
            "decide_url": self._decide_url,
            "reasons": reasons_for(self.decides),
        }
        return available | bar

    @property
    def _decide_url(self) -> str:
        return f"admin:{self.url_name('decide')}"

    def listed_actions(self, row: Any) -> list[AdminAction]:
        return [action for action in self.row_actions if action.key and action.is_available(row)]

    def get_urls(self) -> list[URLPattern]:
        views = {"csv/": ("csv", self.csv_view), "saved/": ("saved", self.saved_view)}
        own = [
            path(part, self.admin_site.admin_view(view), name=self.url_name(name))
            for part, (name, view) in views.items()
        ]
        decide = path("<uuid:pk>/decide/", self.admin_site.admin_view(self.decide_view), name=self.url_name("decide"))
        return [*own, decide, *super().get_urls()]

    def get_changelist_instance(self, request: HttpRequest) -> ChangeList:
        changes = super().get_changelist_instance(request)
        rows = list(changes.result_list)
        self.prepare_rows(rows)
        for row, following in zip_longest(rows, rows[1:]):
            row.next_pk = following.pk if following else ""
            row.list_url = f"{request.get_full_path()}#row-{row.pk}"
        changes.result_list = rows
        return changes

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        more = {
            "reasons": reasons_for(self.decides),
            "listed_actions": [action for action in self.row_actions if action.key],
            "saved_lists": saved.lists_of(request, self.model),
            "list_query": request.GET.urlencode(),
            "saved_url": reverse(f"admin:{self.url_name('saved')}"),
            "csv_url": reverse(f"admin:{self.url_name('csv')}"),
            "decide_url": self._decide_url,
        }
        return super().changelist_view(request, more | (extra_context or {}))

    def decide_view(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        return decide_one(self, request, pk)

    def csv_view(self, request: HttpRequest) -> HttpResponseBase:
        """The list with the filters of the query."""
        rows = saved.filtered(self, request)
        if rows is None:
            return HttpResponseRedirect(reverse(f"admin:{self.url_name('changelist')}"))
        return csv_response(rows, self.csv_columns, name=str(self.opts.model_name))

    def saved_view(self, request: HttpRequest) -> HttpResponse:
        return saved.change(self, request)

    @admin.display(description="review")
    def review(self, row: Any) -> SafeString:
        template, context = self.review_template(row)
        return render_to_string(template, context | {"row": row})

    @admin.display(description="decide")
    def decide(self, row: Any) -> SafeString:
        context = {"row": row, "name": self.name_of(row), "actions": self.listed_actions(row)}
        return render_to_string("admin/desk/decide.html", context)
