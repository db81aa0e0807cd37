"""Finds pending and hidden posts by their words, for the admin: the search of all reads published posts alone."""

from __future__ import annotations

from uuid import UUID

from django.db import transaction

from kernel.database.sql import current_alias, fetch_all, fetch_one
from messaging.queries.search import QUERY, with_phrases

# The condition and the expression of the index `words_of_unpublished`. In no order: one would read all matches.
WITH_WORDS = f"""
SELECT id FROM messaging_message
WHERE status IN ('pending', 'hidden') AND messaging_search_words(content, payload) @@ ({QUERY}) LIMIT %(limit)s
"""  # noqa: S608  built from constants
# The statistics of these few posts are bad, and another plan computes the words of each of them.
BY_ITS_INDEX = "SELECT set_config('enable_seqscan', 'off', true), set_config('enable_indexscan', 'off', true)"


def ids_of_unpublished(text: str, *, limit: int) -> set[UUID]:
    """At most `limit` posts with these words. The settings end with the transaction, which is rolled back."""
    alias = current_alias()
    with transaction.atomic(using=alias):
        fetch_one(BY_ITS_INDEX)
        found = {message_id for (message_id,) in fetch_all(WITH_WORDS, {"text": with_phrases(text), "limit": limit})}
        transaction.set_rollback(True, using=alias)
    return found
