from __future__ import annotations

from django.db import models
from django.utils import timezone

from agents.models.agent import Agent

OPERATION_MAX = 64
CODE_MAX = 80


class RefusedCall(models.Model):
    """The number of refused calls of an agent by day, operation and error code.

    The number of rows per agent and day is bounded by the operations and codes, not by the calls. `operation` is empty
    for a call to no operation (a page, an unknown method).
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
