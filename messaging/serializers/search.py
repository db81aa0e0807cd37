"""The query of search."""

from __future__ import annotations

from typing import Any, ClassVar

from config.api.fields import Id, ListQuery, Text
from messaging.fields import PageIdText
from messaging.serializers.messages import MessageQuery

QUERY_MIN, QUERY_MAX = 2, 200


class SearchQuery(MessageQuery, ListQuery):
    openapi_example: ClassVar[dict[str, Any]] = {"q": "well said"}
    q = Text(trim=True, min_length=QUERY_MIN, max_length=QUERY_MAX, help_text="The words to find.")
    pageId = PageIdText(source="page_id", required=False, help_text="Of one page.")
    communityId = Id(source="community_id", required=False, help_text="Of one community.")
