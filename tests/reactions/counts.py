"""The invariant of these tests: the counts of a post equal the counts of its rows."""

from __future__ import annotations

from collections import Counter

from messaging.models import Message
from reactions.models import Reaction


def counted(message: Message) -> dict[str, int]:
    """The counts stored on the post; fails if they differ from the rows."""
    rows = Counter(Reaction.objects.filter(message=message).values_list("emoji", flat=True))
    message.refresh_from_db(fields=["reaction_counts", "reaction_total"])
    assert message.reaction_counts == dict(rows)
    assert message.reaction_total == rows.total()
    return dict(rows)
