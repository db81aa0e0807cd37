"""Carries out each form that creates something once, also if its button is pressed twice or the page is sent again.

The form has a hidden key. The database decides which of two equal submissions is carried out; the other waits for it,
and redirects to its result.

    class SiteForm(OnceForm): ...

    form = SiteForm(request.POST)
    if form.is_valid() and (location := form.submit_once(person_of(request), lambda: create(...))):
        return redirect(location)
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, TypeVar
from uuid import UUID

from django import forms
from django.db import models, transaction
from django.utils.translation import gettext_lazy as _

from account_area.forms import AccountForm
from account_area.models import Submission
from kernel.api.exceptions import InvalidInput
from kernel.api.ids import new_id
from kernel.writes.deletion import delete_in_batches
from messaging.models import Account

Row = TypeVar("Row", bound=models.Model)

STORED_DAYS = 2


class OnceForm(AccountForm):
    """A form with the hidden key of its submission."""

    submission = forms.UUIDField(
        widget=forms.HiddenInput, initial=new_id, error_messages={"required": _("Open the form again and send it.")}
    )

    def submit_once(self, account: Account, create: Callable[[], str]) -> str | None:
        """Call `create`, which returns the path of its result, unless this form was carried out before.

        Returns the path. None: the service refused, and the form has the errors; it can be sent again.
        """
        return self.carry_out(_once, account=account, key=self.cleaned_data["submission"], create=create)

    def submit_once_with_secret(
        self, account: Account, make: Callable[[], tuple[Row, str]], path_of: Callable[[Row], str]
    ) -> tuple[str | None, tuple[Row, str] | None]:
        """As `submit_once`, for a row with a secret that is shown once: (the path, the row and its secret).

        The second is None if an equal form has made the row before.
        """
        made: list[tuple[Row, str]] = []

        def create() -> str:
            made.append(make())
            return path_of(made[0][0])

        def once(**arguments: Any) -> str:
            # A try that was aborted has made a row that does not exist.
            made.clear()
            return _once(**arguments)

        path = self.carry_out(once, account=account, key=self.cleaned_data["submission"], create=create)
        return path, made[0] if made else None


@transaction.atomic
def _once(*, account: Account, key: UUID, create: Callable[[], str]) -> str:
    # The insert waits for a transaction that has inserted the same key.
    Submission.objects.bulk_create([Submission(key=key, account=account)], ignore_conflicts=True)
    row = Submission.objects.select_for_update().get(key=key)
    if row.account_id != account.pk:
        raise InvalidInput("Open the form again and send it.")
    if not row.location:
        row.location = create()
        row.save(update_fields=["location"])
    return row.location


def prune(*, now: datetime, dry_run: bool) -> dict[str, int]:
    """Delete or count the keys of forms that were sent days ago, for the command `prune`."""
    old = Submission.objects.filter(created_at__lt=now - timedelta(days=STORED_DAYS))
    return {"submitted forms": old.count() if dry_run else delete_in_batches(old)}
