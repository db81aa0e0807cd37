"""The query of search."""

from __future__ import annotations

import re
from typing import Any, ClassVar

from kernel.api.fields import Id, ListQuery, Text
from messaging.fields import PageIdText
from messaging.serializers.messages import MessageQuery
from messaging.word_lists.characters import UNSPACED_LETTER

QUERY_MIN, QUERY_MAX = 2, 200
LETTER = re.compile(UNSPACED_LETTER)


class Words(Text):
    def to_internal_value(self, data: Any) -> str:
        words = super().to_internal_value(data)
        if len(words) < QUERY_MIN and not LETTER.match(words):
            self.fail("min_length", min_length=QUERY_MIN)
        return words


class SearchQuery(MessageQuery, ListQuery):
    openapi_example: ClassVar[dict[str, Any]] = {"q": "well said"}
    q = Words(
        trim=True,
        min_length=1,
        max_length=QUERY_MAX,
        help_text="The words to find. One character alone is a word in scripts without spaces, and in Korean.",
    )
    pageId = PageIdText(source="page_id", required=False, help_text="Of one page.")
    communityId = Id(source="community_id", required=False, help_text="Of one community.")
