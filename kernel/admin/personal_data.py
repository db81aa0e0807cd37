"""Erases people from the history of the admin."""

from __future__ import annotations

from django.contrib.admin.models import LogEntry
from django.contrib.auth import get_user_model
from django.db.models import F, Func, Q, TextField, Value

from kernel.admin.audit import forget_entries_about, forget_reasons
from kernel.personal_data import Subject


def erase(subject: Subject) -> int:
    """The entries about the accounts, and in all others the handles, beside which a reason may name the person. What
    the person decided stays without the reasons, as of a deleted account.
    """
    forget_entries_about(get_user_model(), subject.account_ids)
    forget_reasons(LogEntry.objects.filter(user__in=subject.account_ids))
    _replace_handles(subject)
    return LogEntry.objects.filter(user__in=subject.account_ids).update(user_id=subject.heir_id)


def _replace_handles(subject: Subject) -> None:
    pattern = subject.mentions
    has_handle = Q(object_repr__regex=pattern) | Q(change_message__regex=pattern)
    forget_reasons(LogEntry.objects.filter(change_message__regex=pattern))
    LogEntry.objects.filter(has_handle).update(
        **{name: _without(name, pattern) for name in ("object_repr", "change_message")}
    )


def _without(column: str, pattern: str) -> Func:
    return Func(
        *(F(column), Value(pattern), Value("@deleted"), Value("g")),
        function="regexp_replace",
        output_field=TextField(),
    )
