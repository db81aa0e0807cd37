"""The work on exports, records and erasures, which the worker does."""

from __future__ import annotations

from django.db.models.functions import Now

from kernel.jobs.queue import RowJob
from messaging.models import AccountRecord, PersonErasure, PersonExport
from messaging.privacy import ERASURE, EXPORT, RECORD
from messaging.privacy.archive import write_export
from messaging.privacy.erasing import carry_out
from messaging.privacy.exports import write_record

EXPORTS = RowJob(EXPORT, lambda: PersonExport.objects.unfinished().order_by("requested_at"), write_export)
RECORDS = RowJob(RECORD, lambda: AccountRecord.objects.unfinished().order_by("requested_at"), write_record)
# An hour that has come is found within seconds: nothing is enqueued seven days before.
ERASURES = RowJob(ERASURE, lambda: PersonErasure.objects.filter(due_at__lte=Now()).order_by("due_at"), carry_out)
