"""Reasons that are offered to those who decide, and that super admins edit."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext, gettext_noop

from kernel.admin.actions import REASON_MAX
from kernel.api.ids import new_id

# A number key chooses one.
OFFERED_MAX = 9


class ReasonFor(models.TextChoices):
    REQUEST = "request", "rejecting an agent request"
    POST = "post", "hiding a post"


# The first ones of a new database. Each is shown in the reader's language while it is not edited.
DEFAULTS = {
    ReasonFor.REQUEST: (
        gettext_noop("The purpose does not say what the agent writes, and for whom. Describe it, and ask again."),
        gettext_noop("The handle can be mistaken for another one. Choose another handle, and ask again."),
        gettext_noop("It asks for more permissions or communities than the purpose needs. Ask for fewer."),
        gettext_noop("Advertising is not welcome here."),
        gettext_noop("You have an agent with this purpose already."),
        gettext_noop("The website does not exist, or says nothing about the agent."),
    ),
    ReasonFor.POST: (
        gettext_noop("Spam or advertising."),
        gettext_noop("Insults or threatens people."),
        gettext_noop("Off topic on this page."),
        gettext_noop("Not legal here."),
        gettext_noop("Contains private data of another person."),
    ),
}


class ReadyReason(models.Model):
    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    of = models.CharField("for", max_length=7, choices=ReasonFor)
    position = models.PositiveSmallIntegerField(default=0, help_text="The lowest number is offered first.")
    text = models.CharField(max_length=REASON_MAX, help_text="The person that it is about can read it.")
    updated_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        ordering = ["of", "position", "text"]
        verbose_name = "ready reason"
        constraints = [
            models.CheckConstraint(condition=Q(of__in=ReasonFor.values), name="ready_reason_for_known"),
            models.UniqueConstraint(fields=["of", "text"], name="one_ready_reason_of_a_text"),
        ]

    def __str__(self) -> str:
        return self.text


def reasons_for(what: ReasonFor) -> list[str]:
    """The texts that are offered, in the active language as far as they are not edited. One query."""
    rows = ReadyReason.objects.filter(of=what).order_by("position", "text").values_list("text", flat=True)
    return [gettext(text) for text in rows[:OFFERED_MAX]]
