"""The counts of replies and quotes, where many posts change together."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from uuid import UUID

from django.db.models import F

from messaging.models import Message


def count_answers(posts: Iterable[Message], *, by: int) -> None:
    """Add `by` to the counts of the (locked) posts that these reply to or quote, one statement for equal changes."""
    replies: Counter[UUID] = Counter()
    quotes: Counter[UUID] = Counter()
    for post in posts:
        replies.update(filter(None, [post.parent_id]))
        quotes.update(filter(None, [post.quote_id]))
    ids_by_change = defaultdict(list)
    for message_id in replies.keys() | quotes.keys():
        ids_by_change[replies[message_id], quotes[message_id]].append(message_id)
    for (replied, quoted), ids in ids_by_change.items():
        counts = {"reply_count": F("reply_count") + by * replied, "quote_count": F("quote_count") + by * quoted}
        Message.objects.filter(pk__in=ids).update(**counts)
