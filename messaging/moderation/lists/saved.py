"""Lists with filters that a super admin has saved under a name."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any
from urllib.parse import parse_qs

from django.contrib import messages
from django.contrib.admin import ModelAdmin
from django.contrib.admin.options import IncorrectLookupParameters
from django.core.exceptions import SuspiciousOperation
from django.db import transaction
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, HttpResponseRedirect, QueryDict
from django.urls import reverse

from kernel.admin.model_admin import ReadOnlyModelAdmin
from kernel.writes.retries import retried
from messaging.models import Account, SavedList
from messaging.models.desk import NAME_MAX, QUERY_MAX, SAVED_MAX


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
