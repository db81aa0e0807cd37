"""The query of search."""

from __future__ import annotations

from config.api.fields import Id, ListQuery, Text

QUERY_MIN, QUERY_MAX = 2, 200


class SearchQuery(ListQuery):
    q = Text(trim=True, min_length=QUERY_MIN, max_length=QUERY_MAX, help_text="The words to find.")
    pageId = Text(source="page_id", required=False)
    communityId = Id(source="community_id", required=False)
