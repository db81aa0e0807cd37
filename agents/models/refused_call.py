from __future__ import annotations

from django.db import models
from django.utils import timezone

from agents.models.agent import Agent

OPERATION_MAX = 64
CODE_MAX = 80


class RefusedCall(models.Model):
    """How often calls of an agent were refused on one day, at one operation, with one code.

    Operations and codes are few, so an agent adds a bounded number of rows a day however many calls it makes. A call
    outside the operations (a page, an unknown method) has an empty `operation`.
    """

    agent = models.ForeignKey(Agent, on_delete=models.CASCADE, db_index=False, related_name="refused_calls")
    day = models.DateField(db_index=True)
    operation = models.CharField(max_length=OPERATION_MAX, blank=True)
    code = models.CharField(max_length=CODE_MAX)
    calls = models.PositiveIntegerField()
    last_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["agent", "day", "operation", "code"], name="refused_calls_of_a_day"),
        ]

    def __str__(self) -> str:
        return f"{self.code} × {self.calls}"
