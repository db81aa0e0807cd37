"""The base class of lists whose actions take any number of rows: many are a job, with progress and an undo.

Lists with filters that a super admin has saved under a name.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from datetime import datetime
from typing import Any
from urllib.parse import parse_qs, urlencode
from uuid import UUID

from django.contrib import messages
from django.contrib.admin import ModelAdmin
from django.contrib.admin.options import IncorrectLookupParameters
from django.core.exceptions import SuspiciousOperation
from django.db import transaction
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, HttpResponseRedirect, QueryDict
from django.urls import reverse
from django.utils.html import format_html

from kernel.admin.actions import AdminAction, confirmation
from kernel.admin.changelists import decided_name, returning
from kernel.admin.formatting import change_url
from kernel.admin.model_admin import BULK_MAX, ReadOnlyModelAdmin
from kernel.api.times import parse_time
from kernel.database.sql import database_now
from kernel.writes.transaction import retried
from messaging.models import Account, SavedList
from messaging.models.desk import NAME_MAX, QUERY_MAX, SAVED_MAX
from messaging.moderation.bulk_jobs import ROWS_MAX, record_job, start_job
from messaging.moderation.exceptions import TooManyRows
from messaging.moderation.lists.running import run_soon


def lists_of(request: HttpRequest, model: type[Model]) -> list[SavedList]:
    return list(SavedList.objects.filter(account=request.user.pk, of=model._meta.label_lower))


def filtered(rows: ReadOnlyModelAdmin, request: HttpRequest) -> QuerySet[Any] | None:
    """All rows of the list with the filters of the request; None if they are invalid."""
    try:
        changes = rows.get_changelist_instance(request)
    except IncorrectLookupParameters:
        return None
    return changes.get_queryset(request)


def came_from(rows: ReadOnlyModelAdmin, request: HttpRequest) -> QuerySet[Any] | None:
    """All rows of the list from which the user came; None if it had no filters, or they are invalid."""
    query = parse_qs(rows.get_preserved_filters(request)).get("_changelist_filters", [""])[-1]
    if not query:
        return None
    listed = copy(request)
    listed.GET = QueryDict(query)
    try:
        # Of Django: the rows are not shown, so what the columns of the list need is not loaded.
        found: QuerySet[Any] = ModelAdmin.get_changelist_instance(rows, listed).queryset
    except (IncorrectLookupParameters, SuspiciousOperation):
        return None
    return found


def first_found(listed: QuerySet[Any] | None, find: Callable[[QuerySet[Any] | None], Any]) -> Any:
    """What `find` returns for the list; if it has none, for all rows (None)."""
    found = find(listed)
    return find(None) if found is None and listed is not None else found


def change(rows: ReadOnlyModelAdmin, request: HttpRequest) -> HttpResponse:
    """POST `name` and `query` saves a list, or replaces the one of that name; POST `remove`, an id, deletes one."""
    if request.method != "POST":
        return HttpResponseNotAllowed(["POST"])
    query = request.POST.get("query", "")
    removed = request.POST.get("remove", "")
    if removed.isdecimal() and len(removed) < 19:
        SavedList.objects.filter(account=request.user.pk, pk=int(removed)).delete()
    else:
        problem = _save(request, rows.model._meta.label_lower, request.POST.get("name", "").strip(), query)
        text, level = (problem, messages.ERROR) if problem else ("The list is saved.", messages.SUCCESS)
        rows.message_user(request, text, level)
    url = reverse(f"admin:{rows.url_name('changelist')}")
    return HttpResponseRedirect(f"{url}?{query}" if query and len(query) <= QUERY_MAX else url)


@retried
@transaction.atomic
def _save(request: HttpRequest, of: str, name: str, query: str) -> str:
    """What is wrong, else nothing."""
    if not 0 < len(name) <= NAME_MAX or len(query) > QUERY_MAX or "\n" in query or "\r" in query:
        return f"Give the list a name of 1 to {NAME_MAX} characters."
    # The lock orders two forms that are sent at once.
    owner = Account.objects.select_for_update(no_key=True).get(handle=request.user.get_username())
    own = SavedList.objects.filter(account=owner, of=of)
    if not own.filter(name=name).exists() and own.count() >= SAVED_MAX:
        return f"Remove a saved list first: {SAVED_MAX} are the most allowed."
    SavedList.objects.update_or_create(account=owner, of=of, name=name, defaults={"query": query})
    return ""


SHOWN_MAX = 50
GROWN = "The list has more rows than when you confirmed. Check it, and confirm again."


class ManyRowsAdmin(ReadOnlyModelAdmin):
    def perform_on_many(self, request: HttpRequest, chosen: QuerySet[Any], action: AdminAction) -> HttpResponse | None:
        """More than BULK_MAX rows are a job, which starts when it is confirmed, on rows that its page has counted."""
        as_of = _as_of(request)
        if request.POST.get("select_across") == "1":
            chosen = chosen.filter(created_at__lte=as_of)
        if not chosen[BULK_MAX:].exists():
            return super().perform_on_many(request, chosen, action)
        ids, undoes = _rows_of(chosen, action)
        if len(ids) > ROWS_MAX:
            self.message_user(request, TooManyRows(max=ROWS_MAX).body()["message"], messages.ERROR)
            return None
        form = action.form(request.POST if "confirmed" in request.POST else None, row=None, action=action)
        if form.is_valid() and len(ids) > _counted(request):
            form.add_error(None, GROWN)
        if form.is_valid():
            return self._start(request, action, reason=form.cleaned_data["reason"], ids=ids, undoes=undoes)
        counted = {"as_of": as_of.isoformat(), "counted": len(ids)}
        shown = list(chosen[: min(SHOWN_MAX, BULK_MAX)])
        return confirmation(self, request, action, shown, form, more=len(ids) - len(shown), hidden=counted)

    def report(
        self, request: HttpRequest, action: AdminAction, done: dict[Any, datetime | None], text: str, reason: str = ""
    ) -> None:
        """The message offers to undo the action, if one undoes it."""
        url = self.undo_url(request, action, done, reason) if action.undo else ""
        shown = format_html('{} <a href="{}">Undo…</a>', text, url) if url else text
        self.message_user(request, shown, messages.SUCCESS)

    def undo_url(self, request: HttpRequest, action: AdminAction, done: dict[Any, datetime | None], reason: str) -> str:
        """The page that undoes the action; it leads back to the list. Several rows are undone as those of a job."""
        in_list = request.get_full_path() if "action" in request.POST else ""
        if len(done) == 1:
            ((row, at),) = done.items()
            url = reverse(f"admin:{self.url_name(action.undo)}", args=[row.pk])
            url += f"?{urlencode({decided_name(row.pk): at.isoformat()})}" if at else ""
            return returning(url, to=in_list) if in_list else self.with_filters(request, url)
        changed = {row.pk: at for row, at in done.items()}
        job = record_job(changed=changed, by=request.user, reason=reason, **self._job(action, len(done)))  # type: ignore[arg-type]
        return returning(reverse("admin:messaging_bulkjob_undo", args=[job.pk]), to=in_list)

    def _job(self, action: AdminAction, number: int) -> dict[str, str]:
        label = f"{action.label} {number:,} {self.opts.verbose_name_plural}"
        return {"kind": f"{self.model._meta.label_lower}:{action.name}", "label": label}

    def _start(self, request: HttpRequest, action: AdminAction, *, ids: list[UUID], **values: Any) -> HttpResponse:
        job = start_job(ids=ids, by=request.user, **values, **self._job(action, len(ids)))  # type: ignore[arg-type]
        run_soon(job)
        return HttpResponseRedirect(returning(change_url(job), to=request.get_full_path()))


def _rows_of(chosen: QuerySet[Any], action: AdminAction) -> tuple[list[UUID], list[datetime | None]]:
    """The ids of the rows, and the times of their decisions for an action that undoes these."""
    chosen = chosen[: ROWS_MAX + 1]
    if not action.takes_decided_at:
        return list(chosen.values_list("pk", flat=True)), []
    rows = list(chosen.values_list("pk", "decided_at"))
    return [pk for pk, _at in rows], [at for _pk, at in rows]


def _as_of(request: HttpRequest) -> datetime:
    """When the confirmation page was made: rows that were created later are not on it."""
    return parse_time(request.POST.get("as_of", "")) or database_now()


def _counted(request: HttpRequest) -> int:
    """How many rows the confirmation page counted; 0 for a form of an earlier release."""
    text = request.POST.get("counted", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 9 else 0
