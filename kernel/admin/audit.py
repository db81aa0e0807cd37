"""The history of the admin: an entry for every decision, made in the admin or by the API."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.contenttypes.models import ContentType
from django.db import models
from django.db.models import Case, F, Func, Q, Value, When


def log_decision(*, by: models.Model, about: models.Model, verb: str, reason: str = "") -> None:
    """Log a decision of the super admin or operator `by` about a row."""
    LogEntry.objects.create(
        user_id=by.pk,
        content_type_id=ContentType.objects.get_for_model(about).pk,
        object_id=str(about.pk),
        object_repr=str(about)[:200],
        action_flag=CHANGE,
        change_message=f"{verb}: {reason}" if reason else f"{verb}.",
    )


def transition(verb: str, before: object, after: object) -> str:
    """`Hidden (pending → hidden)`, as the verb of a decision: what was decided, and what it changed."""
    return f"{verb} ({before} → {after})"


def log_entries_about(rows: Iterable[models.Model], *, latest: int) -> list[LogEntry]:
    """The latest decisions about any of these rows, newest first."""
    about = Q(pk__in=[])
    for row in rows:
        about |= Q(content_type=ContentType.objects.get_for_model(row), object_id=str(row.pk))
    return list(LogEntry.objects.filter(about).select_related("user", "content_type").order_by("-pk")[:latest])


def entries_about(model: type[models.Model], ids: Collection[object]) -> models.QuerySet[LogEntry]:
    of_model = LogEntry.objects.filter(content_type=ContentType.objects.get_for_model(model))
    return of_model.filter(object_id__in=[str(row_id) for row_id in ids])


def forget_entries_about(model: type[models.Model], ids: Collection[object]) -> None:
    """Remove from the history what rows were called and the reasons that were given; what was decided stays."""
    forget_reasons(entries_about(model, ids))
    forget_names_about(model, ids)


def forget_names_about(model: type[models.Model], ids: Collection[object]) -> None:
    """Remove from the history what rows were called, of a post its first words; decisions and reasons stay."""
    entries_about(model, ids).update(object_repr="")


def forget_reasons(entries: models.QuerySet[LogEntry]) -> None:
    """Leave what was decided: a message is "Verb: reason", or a JSON array of Django's with names of related rows."""
    decided = Func(F("change_message"), Value(": "), Value(1), function="split_part", output_field=models.TextField())
    is_json = When(change_message__startswith="[", then=Value("", output_field=models.TextField()))
    entries.update(change_message=Case(is_json, default=decided))
