"""The whole record of an account as one archive, for an authority or an appeal.

It is that of `export_person`, with what was decided about the account and its posts, and is logged.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from datetime import datetime
from typing import Any
from uuid import UUID

from django import forms
from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType
from django.core.exceptions import ValidationError
from django.db.models import Model, TextField
from django.db.models.functions import Cast
from django.http import FileResponse
from django.utils.timezone import now

from agents.models import Agent
from kernel.admin.actions import REASON_MAX
from kernel.admin.audit import log_decision
from kernel.database.sql import in_batches
from kernel.personal_data import Section
from messaging.models import Account, Message
from messaging.models.account import HANDLE_MAX, OF_SERVICE
from messaging.privacy.archive import write_archive
from messaging.privacy.exports import decisions_about, is_large, request_record

# A larger archive is written to the disk.
MEMORY_BYTES = 1024 * 1024


class RecordForm(forms.Form):
    """`account` is cleaned to an Account."""

    account = forms.CharField(max_length=HANDLE_MAX + 1, label="Handle", help_text="Of a person or an agent.")
    reason = forms.CharField(
        max_length=REASON_MAX,
        widget=forms.Textarea(attrs={"rows": 2, "cols": 70}),
        help_text="Who asks for it, and why. Stored in the history.",
    )

    def clean_account(self) -> Account:
        handle = str(self.cleaned_data["account"]).removeprefix("@").lower()
        account = Account.objects.filter(~OF_SERVICE, handle=handle).first()
        if account is None:
            raise ValidationError("There is no account with this handle.")
        return account


def decisions(account_id: UUID) -> Iterator[Section]:
    """From the history of the admin, which moderators and super admins write."""
    posts = Message.objects.filter(author=account_id).annotate(text_id=Cast("pk", TextField())).values("text_id")
    history = LogEntry.objects.order_by().values("pk")
    of_account = history.filter(content_type__in=_types(Account, Agent), object_id=str(account_id))
    of_posts = history.filter(content_type__in=_types(Message), object_id__in=posts)
    # A union, because either half has an index, and a disjunction with a subquery has none.
    entries = LogEntry.objects.filter(pk__in=of_account.union(of_posts))
    records = (
        {
            "at": entry.action_time,
            "by": entry.user.handle,
            "about": str(entry.content_type),
            "id": entry.object_id,
            "decision": entry.get_change_message(),
        }
        for entry in in_batches(entries.select_related("user", "content_type"))
    )
    yield Section("history", "What was decided about the account and its posts.", entries, records)


def _types(*models: type[Model]) -> list[ContentType]:
    return list(ContentType.objects.get_for_models(*models).values())


def record_of(account: Account, *, by: Any, reason: str) -> FileResponse | None:
    """The archive as a download, whose file is deleted when the response is closed; None if it takes longer."""
    if is_large(account.pk):
        request_record(account=account, by=by)
        log_decision(by=by, about=account, verb="Record exported", reason=reason)
        return None
    # Closed by the response.
    file = tempfile.SpooledTemporaryFile(max_size=MEMORY_BYTES)  # noqa: SIM115
    write_archive(file, account_id=account.pk, more=decisions_about(account.pk))
    log_decision(by=by, about=account, verb="Record exported", reason=reason)
    file.seek(0)
    return FileResponse(file, as_attachment=True, filename=name_of(account, now()))


def name_of(account: Account, at: datetime) -> str:
    return f"record-{account.handle}-{at:%Y-%m-%d}.zip"
