"""What the page of a row shows beside the row, from apps that this package does not know."""

from __future__ import annotations

from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib import admin, messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.admin.templatetags.admin_urls import add_preserved_filters
from django.core.exceptions import ValidationError
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import URLPattern, path
from django.utils.module_loading import import_string
from django.utils.safestring import SafeString

from kernel.admin.actions import AdminAction, confirmation, error_text
from kernel.admin.changelists import BoundedCountPaginator, PagedChangeList, QueueSummary, return_url, times_of
from kernel.admin.formatting import change_url
from kernel.api.exceptions import ApiError


def panels_of(row: Model) -> list[SafeString]:
    """Those of the setting ADMIN_PANELS that are not empty for the row."""
    return [html for path in settings.ADMIN_PANELS if (html := import_string(path)(row))]


BULK_MAX = 200


class ReadOnlyModelAdmin(admin.ModelAdmin):
    """Read-only rows. An `AdminAction` is a button on the page of a row and an action of the list.

    `SuperAdminSite.has_permission` decides who may view them.
    """

    row_actions: tuple[AdminAction, ...] = ()
    paginator = BoundedCountPaginator
    show_full_result_count = False
    list_per_page = 50
    list_max_show_all = BULK_MAX
    view_on_site = False
    # A facet count is a query over the whole table.
    show_facets = admin.ShowFacets.NEVER
    change_form_template = "admin/shared/read_only_form.html"
    # The converter of paths for ids.
    id_converter = "uuid"

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def queue_summary(self) -> QueueSummary | None:
        """The rows that wait for a decision, for the index page."""
        return None

    def title_for(self, row: Any) -> str:
        text = str(row)
        return text[:1].upper() + text[1:]

    def extra_context(self, request: HttpRequest, row: Any) -> dict[str, Any]:
        """More context for the template of a row's page."""
        return {}

    def next_url(self, request: HttpRequest, action: AdminAction, row: Any) -> str:
        """The redirect after an action on one row."""
        return change_url(row)

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[PagedChangeList]:
        return PagedChangeList

    def get_urls(self) -> list[URLPattern]:
        return [
            path(
                f"<{self.id_converter}:pk>/{action.name}/",
                self.admin_site.admin_view(partial(self.action_view, action=action)),
                name=self.url_name(action.name),
            )
            for action in self.row_actions
        ] + super().get_urls()

    def url_name(self, page: str) -> str:
        return f"{self.opts.app_label}_{self.opts.model_name}_{page}"

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Accept handles with their @."""
        return super().get_search_results(request, queryset, search_term.replace("@", ""))

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Any:
        """Django would use an empty `_to_field` as the name of a field."""
        return super().get_object(request, object_id, from_field or None)

    def response_action(  # type: ignore[override]  # the stubs have a parameter more than Django
        self, request: HttpRequest, queryset: QuerySet[Any]
    ) -> HttpResponse | None:
        """Refuse selected values that are not ids: Django passes them to the database, which raises."""
        try:
            for chosen in request.POST.getlist(ACTION_CHECKBOX_NAME):
                self.opts.pk.to_python(chosen)
        except ValidationError:
            self.message_user(request, "Nothing was changed: what was chosen is no row of this list.", messages.ERROR)
            return None
        return super().response_action(request, queryset)

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        return {
            action.name: (partial(_perform_on_many, action=action), action.name, action.label)
            for action in self.row_actions
            if action.bulk
        }

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        row = self.get_object(request, object_id)
        more = {} if row is None else {"title": self.title_for(row), "subtitle": None, **self.available_actions(row)}
        more |= {} if row is None else {"panels": panels_of(row), **self.extra_context(request, row)}
        return super().change_view(request, object_id, form_url, (extra_context or {}) | more)

    def render_change_form(self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        """Rows that can be added are added one by one, rarely: a third button to save would only ask for thought."""
        return super().render_change_form(request, {"show_save_and_add_another": False, **context}, *args, **kwargs)

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        title = str(self.opts.verbose_name_plural).capitalize()
        return super().changelist_view(request, {"title": title, **(extra_context or {})})

    def available_actions(self, row: Any) -> dict[str, Any]:
        """The available actions of a row, as links or with their forms."""
        available = [action for action in self.row_actions if action.is_offered and action.is_available(row)]
        return {
            "linked_actions": [action for action in available if not action.inline],
            "inline_actions": [
                {"action": action, "form": action.form(row=row, action=action, auto_id=f"{action.name}_%s")}
                for action in available
                if action.inline
            ],
        }

    def action_view(self, request: HttpRequest, pk: UUID | int, action: AdminAction) -> HttpResponse:
        """GET shows the confirmation page, POST performs the action."""
        row = get_object_or_404(self.get_queryset(request), pk=pk)
        form = action.form(request.POST if request.method == "POST" else None, row=row, action=action)
        if form.is_valid():
            self.perform(request, action, [row], form.arguments())
            return HttpResponseRedirect(self.place_after(request, action, row))
        return confirmation(self, request, action, [row], form)

    def place_after(self, request: HttpRequest, action: AdminAction, row: Any) -> str:
        """The list that the URL names, else the `next_url`."""
        return return_url(request) or self.with_filters(request, self.next_url(request, action, row))

    def status_text(self, row: Any) -> str | SafeString:
        """The state of a row as text, if actions depend on it."""
        return ""

    def perform(self, request: HttpRequest, action: AdminAction, rows: list[Any], arguments: dict[str, Any]) -> None:
        """Run the action on each row separately: a refusal, such as of a row already decided on, undoes no other."""
        done = {}
        for row in rows:
            try:
                at = action.carry_out(row, **times_of(request.POST, row.pk), by=request.user, **arguments)
            except ApiError as refusal:
                self.message_user(request, f"Nothing was changed: {row}: {error_text(refusal)}.", messages.ERROR)
            else:
                done[row] = at
        if done:
            row = next(iter(done))
            what = str(row) if len(done) == 1 else f"{len(done)} {self.opts.verbose_name_plural}"
            self.report(request, action, done, f"{what}: {self.outcome(action, row)}.", arguments.get("reason", ""))

    def outcome(self, action: AdminAction, row: Any) -> str:
        """What an action has done, after the names of the rows; `row` is the first of them."""
        return action.success_message

    def report(
        self, request: HttpRequest, action: AdminAction, done: dict[Any, datetime | None], text: str, reason: str
    ) -> None:
        """`done`: the rows, each with the time of the decision if it has one."""
        self.message_user(request, text, messages.SUCCESS)

    def perform_on_many(self, request: HttpRequest, chosen: QuerySet[Any], action: AdminAction) -> HttpResponse | None:
        """An action of a list: the first POST shows the confirmation page, which sends the second."""
        rows = list(chosen[: BULK_MAX + 1])
        if len(rows) > BULK_MAX:
            self.message_user(request, f"At most {BULK_MAX} at once.", messages.ERROR)
            return None
        form = action.form(request.POST if "confirmed" in request.POST else None, row=None, action=action)
        if not form.is_valid():
            return confirmation(self, request, action, rows, form)
        self.perform(request, action, rows, form.arguments())
        return None

    def with_filters(self, request: HttpRequest, url: str) -> str:
        """The URL with the filters of the list from which the user came."""
        context: Any = {"opts": self.opts, "preserved_filters": self.get_preserved_filters(request)}
        return add_preserved_filters(context, url)


def _perform_on_many(
    rows: ReadOnlyModelAdmin, request: HttpRequest, chosen: QuerySet[Any], *, action: AdminAction
) -> HttpResponse | None:
    return rows.perform_on_many(request, chosen, action)
