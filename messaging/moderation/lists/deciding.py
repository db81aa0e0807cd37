"""A decision from a list, or from the bar of a row's page: as JSON for the script, else as a redirect.

What a decision from a list asks of the list's admin.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, HttpResponseRedirect, JsonResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.html import format_html

from kernel.admin.actions import AdminAction, AdminActionForm, error_text
from kernel.admin.changelists import times_of
from kernel.api.exceptions import ApiError
from kernel.api.ids import is_id
from messaging.moderation.lists.many import ManyRowsAdmin


class DecidableRows(ManyRowsAdmin):
    def state_of(self, row: Any) -> tuple[str, str]:
        """The text and the kind of the badge of a row."""
        raise NotImplementedError

    def name_of(self, row: Any) -> str:
        """What the bar calls the row."""
        return str(row)

    def instead(self, row: Any, action: AdminAction) -> tuple[str, str] | None:
        """A link (text, URL) that is offered when an action is refused."""
        return None


# Of a field in a URL: proxies refuse long ones.
CHOICES_MAX = 50
UNKNOWN = "Choose one of the decisions that the row offers."


def decide_one(rows: DecidableRows, request: HttpRequest, pk: UUID) -> HttpResponse:
    """POST `decision`, the name of an action, with the fields of its form; 400 and 409 as JSON have `error`."""
    if request.method != "POST":
        return HttpResponseNotAllowed(["POST"])
    row = get_object_or_404(rows.get_queryset(request), pk=pk)
    found = [action for action in rows.row_actions if action.name == request.POST.get("decision")]
    if not found:
        return _refused(rows, request, row, UNKNOWN, status=400)
    action = found[0]
    form = action.form(request.POST, row=row, action=action)
    if not form.is_valid():
        return _refused(rows, request, row, _problems(form), status=400)
    try:
        at = action.carry_out(row, **times_of(request.POST, pk), by=request.user, **form.arguments())
    except ApiError as refusal:
        text = f"Nothing was changed: {rows.name_of(row)}: {error_text(refusal)}."
        return _refused(rows, request, row, text, status=409, instead=rows.instead(row, action))
    return _done(rows, request, row, action, at)


def choices_of(request: HttpRequest, action: AdminAction) -> dict[str, list[str]]:
    """The initial values of the action's form on the page of a row: what a refused decision had chosen."""
    return {name: request.GET.getlist(name) for name in action.form.base_fields if name in request.GET}


def _done(
    rows: DecidableRows, request: HttpRequest, row: Any, action: AdminAction, at: datetime | None
) -> HttpResponse:
    text = f"{rows.name_of(row)}: {rows.outcome(action, row)}."
    if _is_script(request):
        current = rows.get_queryset(request).get(pk=row.pk)
        state, kind = rows.state_of(current)
        decided = at.isoformat() if at else ""
        return JsonResponse({"text": text, "state": state, "kind": kind, "undo": action.undo, "decided": decided})
    rows.report(request, action, {row: at}, text)
    return HttpResponseRedirect(_next_place(rows, request, action, row))


def _refused(
    rows: DecidableRows, request: HttpRequest, row: Any, text: str, *, status: int, instead: Any = None
) -> HttpResponse:
    if _is_script(request):
        link = dict(zip(("text", "url"), instead, strict=True)) if instead else None
        return JsonResponse({"error": text, "instead": link}, status=status)
    shown = format_html('{} <a href="{}">{}</a>', text, instead[1], instead[0]) if instead else text
    rows.message_user(request, shown, messages.ERROR)
    if "from_list" in request.POST:
        return HttpResponseRedirect(_list_url(rows, request, row.pk))
    url = rows.with_filters(request, reverse(f"admin:{rows.url_name('change')}", args=[row.pk]))
    choices = _query(rows, request)
    return HttpResponseRedirect(f"{url}{'&' if '?' in url else '?'}{choices}" if choices else url)


def _query(rows: DecidableRows, request: HttpRequest) -> str:
    """The choices of the page for `choices_of`: one form has the fields of all decisions.

    An empty value is a field without one.
    """
    names = dict.fromkeys(name for action in rows.row_actions for name in action.form.base_fields if name != "reason")
    return urlencode({name: request.POST.getlist(name)[:CHOICES_MAX] or [""] for name in names}, doseq=True)


def _next_place(rows: DecidableRows, request: HttpRequest, action: AdminAction, row: Any) -> str:
    if "from_list" not in request.POST:
        return rows.with_filters(request, rows.next_url(request, action, row))
    following = request.POST.get("next", "")
    return _list_url(rows, request, following if is_id(following) else "")


def _list_url(rows: DecidableRows, request: HttpRequest, pk: object) -> str:
    url = rows.with_filters(request, reverse(f"admin:{rows.url_name('changelist')}"))
    return f"{url}#row-{pk}" if pk else url


def _problems(form: AdminActionForm) -> str:
    return " ".join(f"{form[name].label}: {' '.join(map(str, texts))}" for name, texts in form.errors.items())


def _is_script(request: HttpRequest) -> bool:
    return request.headers.get("Accept", "").startswith("application/json")
