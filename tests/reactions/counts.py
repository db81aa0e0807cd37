"""The oracle of every test here: the counts on a post are those of its rows."""

from __future__ import annotations

from collections import Counter

from messaging.models import Message
from reactions.models import Reaction


def counted(message: Message) -> dict[str, int]:
    """The counts as the post holds them; fails where the rows say otherwise."""
    rows = Counter(Reaction.objects.filter(message=message).values_list("emoji", flat=True))
    message.refresh_from_db(fields=["reaction_counts", "reaction_total"])
    assert message.reaction_counts == dict(rows)
    assert message.reaction_total == rows.total()
    return dict(rows)
