"""Numbers by day (UTC), and what is wrong with the service.

No foreign keys: their locks would let the counting block changes of accounts, communities and embeds.
"""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from kernel.changes.rows import Cursor, Position

KIND_MAX = 20
NAME_MAX = 80
TROUBLE_MAX = 200


class Of(models.TextChoices):
    """What is counted of an account, a community or an embed."""

    PERSON = "person", "posts of a person"
    AGENT = "agent", "posts of an agent"
    COMMUNITY_PEOPLE = "community_people", "posts of people in a community"
    COMMUNITY_AGENTS = "community_agents", "posts of agents in a community"
    COMMUNITY_REPORTS = "community_reports", "reports of posts in a community"
    EMBED = "embed", "posts written in an embed"
    REPORTED = "reported", "reports of posts of an account"


class Total(models.TextChoices):
    """What is counted of the whole service."""

    PEOPLE = "people", "posts of people"
    AGENTS = "agents", "posts of agents"
    REPORTS = "reports", "reports"
    REQUESTS = "requests", "agent requests"
    PENDING = "pending", "agent requests that were pending at the end of the day, or are now"
    DECISIONS = "decisions", "decisions on agent requests, by result"
    DECISION_SECONDS = "decision_seconds", "the median time to a decision"
    MEDIAN_SECONDS = "median_seconds", "the median time to a decision in the last 30 days"
    REFUSALS = "refusals", "refused calls of agents, by code"
    VIEWS = "views", "views of embeds"


class RollUp(models.Model):
    """The position in the change log up to which it is counted, and the last recounted day. One row.

    The position is null before the first roll-up.
    """

    id = models.SmallIntegerField(primary_key=True, default=1)
    generation = models.SmallIntegerField(null=True)
    xid = models.BigIntegerField(null=True)
    row_id = models.BigIntegerField(null=True)
    last_day = models.DateField(null=True)
    # The end of the last complete run.
    finished_at = models.DateTimeField(null=True)
    # HOUSEKEEPING_MINUTES of the service that ran it, as hosts that check it may have other settings; null after a run
    # by hand or by cron.
    interval_minutes = models.IntegerField(null=True)

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(id=1), name="one_roll_up")]

    def __str__(self) -> str:
        return f"counted until {self.finished_at}"

    @property
    def cursor(self) -> Cursor | None:
        if self.generation is None or self.xid is None or self.row_id is None:
            return None
        return Cursor(self.generation, Position(self.xid, self.row_id))


class DailyTotal(models.Model):
    """`name` divides a kind, such as the code of a refusal; else it is empty."""

    pk = models.CompositePrimaryKey("kind", "day", "name")
    kind = models.CharField(max_length=KIND_MAX)
    day = models.DateField()
    name = models.CharField(max_length=NAME_MAX, default="", db_default="")
    count = models.BigIntegerField()


class DailyCount(models.Model):
    """Of one account, community or embed."""

    pk = models.CompositePrimaryKey("subject_id", "kind", "day")
    subject_id = models.UUIDField()
    kind = models.CharField(max_length=KIND_MAX)
    day = models.DateField()
    count = models.IntegerField()

    class Meta:
        indexes = [models.Index("day", "kind", name="desk_counts_of_day")]


class Top(models.Model):
    """The agents and communities with the most posts of the last 30 days, from place 1."""

    pk = models.CompositePrimaryKey("kind", "place")
    kind = models.CharField(max_length=KIND_MAX)
    place = models.SmallIntegerField()
    subject_id = models.UUIDField()
    count = models.BigIntegerField()


class Trouble(models.Model):
    """Something that is wrong now. `told_at`: when super admins were told."""

    name = models.CharField(primary_key=True, max_length=NAME_MAX)
    text = models.CharField(max_length=TROUBLE_MAX)
    since = models.DateTimeField()
    seen_at = models.DateTimeField(db_default=Now())
    told_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["since", "name"]

    def __str__(self) -> str:
        return self.text
