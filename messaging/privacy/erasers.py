"""Erases what messaging stores about people, beside posts (`posts`)."""

from __future__ import annotations

from django.db import transaction
from rest_framework_simplejwt.token_blacklist.models import OutstandingToken

from kernel.admin.audit import forget_entries_about
from kernel.personal_data import Subject
from messaging.models import (
    AccountRecord,
    HandleClaim,
    PanelSession,
    PersonExport,
    Report,
    SignIn,
    Webhook,
)
from messaging.privacy.erased_handles import erase_handle
from messaging.privacy.exports import delete_exports, delete_records

BATCH = 500


def exports(subject: Subject) -> int:
    """One at a time: an archive may be large."""
    ids = list(PersonExport.objects.filter(account__in=subject.account_ids).values_list("pk", flat=True)[:1])
    return delete_exports(ids) if ids else delete_records(AccountRecord.objects.filter(account__in=subject.account_ids))


def webhooks(subject: Subject) -> int:
    ids = list(Webhook.objects.filter(owner__in=subject.account_ids).values_list("pk", flat=True))
    forget_entries_about(Webhook, ids)
    Webhook.objects.filter(pk__in=ids).delete()
    return len(ids)


def reports(subject: Subject) -> int:
    """The reports that the person made. Decisions on the posts stay."""
    ids = list(Report.objects.filter(reporter__in=subject.account_ids).values_list("pk", flat=True)[:BATCH])
    forget_entries_about(Report, ids)
    return Report.objects.filter(pk__in=ids).delete()[0]


def sign_ins(subject: Subject) -> int:
    """Sign-ins, the sessions of panels and sign-in tokens. `account_area.personal_data` erases those of the pages."""
    erased = SignIn.objects.filter(account__in=subject.account_ids).delete()[0]
    erased += PanelSession.objects.filter(account__in=subject.account_ids).delete()[0]
    return erased + OutstandingToken.objects.filter(user__in=subject.account_ids).update(user=None)


@transaction.atomic
def handles(subject: Subject) -> int:
    """A digest takes the place of the claim. Who claims the handle meanwhile waits, and then finds the digest."""
    for handle in subject.handles:
        erase_handle(handle=handle)
    return HandleClaim.objects.filter(handle__in=subject.handles).delete()[0]
