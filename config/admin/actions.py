"""Decisions about rows: what a super admin can do, each behind a page that asks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django import forms

from config.api.exceptions import ApiError

REASON_MAX = 500


class AdminActionForm(forms.Form):
    """Why. Subclasses ask for more; whatever they ask for goes to the service by its name."""

    reason = forms.CharField(
        max_length=REASON_MAX,
        strip=True,
        widget=forms.Textarea(attrs={"rows": 2, "cols": 70}),
        help_text="Kept in the history.",
    )

    def __init__(self, *args: Any, row: Any, action: AdminAction, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.row = row
        self.fields["reason"].required = action.needs_reason

    def arguments(self) -> dict[str, Any]:
        """The keyword arguments of the service."""
        return dict(self.cleaned_data)


@dataclass(frozen=True, slots=True)
class AdminAction:
    """Something to do to a row.

    `run(row, by=, reason=, …)` is a service that refuses with an ApiError; `is_available` tells whether the row's
    state invites it; `confirmation` says what will follow, and `success_message` what has (`@helper: frozen`).
    `inline` puts the form on the row's own page, `bulk` offers it for many rows of a list.
    """

    name: str
    label: str
    confirmation: str
    success_message: str
    run: Callable[..., object]
    is_available: Callable[[Any], bool] = lambda _row: True
    form: type[AdminActionForm] = AdminActionForm
    needs_reason: bool = False
    inline: bool = False
    bulk: bool = True


def error_text(refusal: ApiError) -> str:
    """`request not pending (status: approved)`."""
    details = [_detail(name, value) for name, value in refusal.fields.items() if name != "field"]
    return refusal.code.replace("_", " ") + (f" ({'; '.join(details)})" if details else "")


def _detail(name: str, value: Any) -> str:
    if isinstance(value, dict):
        return "; ".join(" ".join(map(str, problems)) for problems in value.values())
    return f"{name}: {value}"
