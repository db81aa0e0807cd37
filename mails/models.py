from __future__ import annotations

from datetime import timedelta

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now

from kernel.changes.rows import Cursor, Position
from kernel.jobs.leases import Leased, LeasedQuerySet
from mails.kinds import Frequency, Kind, default_frequency

KIND_MAX = 12
FREQUENCY_MAX = 8
ADDRESS_MAX = 254
REASON_MAX = 300


class Collector(models.Model):
    """The position in the change log up to which notices were made, and what ails the mail server. One row."""

    id = models.SmallIntegerField(primary_key=True, default=1)
    generation = models.SmallIntegerField()
    xid = models.BigIntegerField()
    row_id = models.BigIntegerField()
    # Why the server takes no mails of this service; empty as soon as it takes one.
    server_failure = models.CharField(max_length=REASON_MAX, blank=True, default="", db_default="")

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(id=1), name="one_mail_collector")]

    @property
    def cursor(self) -> Cursor:
        return Cursor(self.generation, Position(self.xid, self.row_id))


class MailingQuerySet(LeasedQuerySet["Mailing"]):
    def known(self) -> MailingQuerySet:
        """During a rolling upgrade, a newer host may add kinds that only its release can write."""
        return self.filter(kind__in=Kind.values)

    def due(self) -> MailingQuerySet:
        """Those with a mail to send now that no process is sending."""
        return self.known().unleased().filter(next_at__lte=Now())


class Mailing(Leased):
    """The mails of one kind to one person: how often they arrive, and when the next one is due.

    `next_at` is null while no notice waits. A process that sends has a lease.
    """

    # Longer than sending one mail takes (mails.sending).
    LEASE = timedelta(minutes=10)

    account = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    kind = models.CharField(max_length=KIND_MAX, choices=Kind)
    # Empty: the default of the kind.
    frequency = models.CharField(max_length=FREQUENCY_MAX, choices=Frequency, blank=True)
    sent_at = models.DateTimeField(null=True)
    next_at = models.DateTimeField(null=True)
    failures = models.IntegerField(default=0)

    objects = MailingQuerySet.as_manager()

    class Meta:
        indexes = [models.Index("next_at", condition=Q(next_at__isnull=False), name="mailings_with_notices")]
        constraints = [
            models.UniqueConstraint(fields=["account", "kind"], name="one_mailing_of_a_kind"),
            models.CheckConstraint(condition=Q(kind__in=Kind.values), name="mailing_kind_known"),
            models.CheckConstraint(condition=Q(frequency__in=["", *Frequency.values]), name="mailing_frequency_known"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} to {self.account_id}"

    @property
    def chosen(self) -> str:
        """The person's choice, else the default of the kind."""
        return self.frequency or default_frequency(self.kind)


class Notice(models.Model):
    """An event that waits for a mail, by the ids of what it is about: the mail shows these as they are then."""

    mailing = models.ForeignKey(Mailing, on_delete=models.CASCADE, db_index=False, related_name="notices")
    # Of the row of the change log.
    xid = models.BigIntegerField()
    row_id = models.BigIntegerField()
    type = models.CharField(max_length=20)
    at = models.DateTimeField()
    message_id = models.UUIDField(null=True)
    actor_id = models.UUIDField(null=True)
    about_id = models.UUIDField(null=True)
    data = models.JSONField(null=True)

    class Meta:
        ordering = ["id"]
        indexes = [models.Index("mailing", F("id"), name="notices_of_mailing")]
        constraints = [models.UniqueConstraint(fields=["mailing", "xid", "row_id"], name="one_notice_of_an_event")]

    def __str__(self) -> str:
        return f"{self.type} {self.row_id}"


class RefusedAddress(models.Model):
    """An address that the mail server has refused for good: nothing is sent to it until the person asks for it."""

    account = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, primary_key=True)
    address = models.CharField(max_length=ADDRESS_MAX)
    # The answer of the mail server, for the person to read.
    reason = models.CharField(max_length=REASON_MAX)
    at = models.DateTimeField(db_default=Now())
