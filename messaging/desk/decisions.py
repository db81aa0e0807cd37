"""Decisions about rows: what a super admin can do, each behind a page that asks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django import forms

from config.api.errors import ApiError

REASON_MAX = 500


class DecisionForm(forms.Form):
    """Why. Subclasses ask for more; whatever they ask for goes to the service by its name."""

    reason = forms.CharField(
        max_length=REASON_MAX,
        strip=True,
        widget=forms.Textarea(attrs={"rows": 2, "cols": 70}),
        help_text="Kept in the history.",
    )

    def __init__(self, *args: Any, row: Any, decision: Decision, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.row = row
        self.fields["reason"].required = decision.needs_reason

    def given(self) -> dict[str, Any]:
        """The keyword arguments of the service."""
        return dict(self.cleaned_data)


@dataclass(frozen=True, slots=True)
class Decision:
    """Something to do to a row.

    `run(row, by=, reason=, …)` is a service that refuses with an ApiError; `fits` tells whether the row's state invites
    it; `asks` says what will follow, and `done` what has (`@helper: frozen`). `at_hand` puts the form on the row's own
    page, `bulk` offers it for many rows of a list.
    """

    name: str
    label: str
    asks: str
    done: str
    run: Callable[..., object]
    fits: Callable[[Any], bool] = lambda _row: True
    form: type[DecisionForm] = DecisionForm
    needs_reason: bool = False
    at_hand: bool = False
    bulk: bool = True


def in_words(refusal: ApiError) -> str:
    """`request not pending (status: approved)`."""
    facts = [_fact(name, value) for name, value in refusal.fields.items() if name != "field"]
    return refusal.code.replace("_", " ") + (f" ({'; '.join(facts)})" if facts else "")


def _fact(name: str, value: Any) -> str:
    if isinstance(value, dict):
        return "; ".join(" ".join(map(str, problems)) for problems in value.values())
    return f"{name}: {value}"
