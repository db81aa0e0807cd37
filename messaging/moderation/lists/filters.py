"""Filters and the search of lists, whose cost depends neither on the number of communities nor on that of older rows.

The search of posts by ids, handles, addresses and words reads a bounded number of posts in each statement.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, cast
from uuid import UUID

from django.contrib.admin import DateFieldListFilter, RelatedFieldListFilter
from django.core.exceptions import ValidationError
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils.timezone import is_aware

from kernel.api.ids import is_id
from kernel.database.sql import fetch_all
from messaging.models import Community
from messaging.moderation.queries import ids_of_unpublished
from messaging.pages.page_ids import InvalidUrl, is_page_id, normalize
from messaging.posts.partitioning.bounds import first_id
from messaging.search.queries import EVERYTHING, MATCHES_MAX, find_matches

LISTED_MAX = 50
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# The time of an id is that of the clock of a host, and `created_at` that of PostgreSQL.
AHEAD = timedelta(days=1)


class CommunityFilter(RelatedFieldListFilter):
    """Links to the first communities by name, and to the chosen one. The page of a community links to its posts."""

    def field_choices(self, field: Any, request: HttpRequest, model_admin: Any) -> list[tuple[Any, Any]]:
        # Without the word lists, which are long.
        communities = Community.objects.order_by("name", "pk").values_list("pk", "name")
        first = list(communities[:LISTED_MAX])
        chosen = {_id_of(field, value) for value in self.lookup_val or ()} - {None, *(pk for pk, _name in first)}
        return [*first, *(communities.filter(pk__in=list(chosen)[:1]) if chosen else ())]


class CreatedFilter(DateFieldListFilter):
    """For tables without an index of `created_at`, by whose ids rows are listed. Rows of that time or later have ids of
    that time or later: those of an import may be older than their ids say, and none is newer than AHEAD.
    """

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        found = cast("QuerySet[Any]", super().queryset(request, queryset))
        # Django accepts each value of a repeated parameter.
        values = cast("list[str]", self.used_parameters.get(self.lookup_kwarg_since, []))
        times = [self.field.to_python(value) for value in values]
        if not times or not all(map(is_aware, times)):
            return found
        return found.filter(pk__gte=first_id(max(min(times), EPOCH + AHEAD) - AHEAD))


def _id_of(field: Any, value: str) -> Any:
    try:
        return field.target_field.to_python(value)
    except ValidationError:
        # `queryset` refuses the value.
        return None


# The newest posts whose whole text is read, of every status.
NEWEST_MAX = 5_000
IN_NEWEST = """
SELECT id FROM (SELECT id, content FROM messaging_message ORDER BY id DESC LIMIT %(limit)s) newest
WHERE strpos(lower(content), lower(%(text)s)) > 0
"""


def condition_for(term: str) -> Q | None:
    """The filter for an id, a handle or a URL; None for other text."""
    if is_id(term):
        return Q(pk=term) | Q(author=term)
    if term.startswith("@"):
        return Q(author__handle=term[1:].lower())
    if is_page_id(term):
        return Q(page=term)
    try:
        return Q(page=normalize(term).page_id) if "://" in term else None
    except InvalidUrl:
        return None


def ids_with(text: str) -> set[UUID]:
    """The posts with a text: the best published matches for its words, others, and the newest posts that contain it."""
    matches = find_matches(text=text, scope=EVERYTHING, after=None, limit=MATCHES_MAX)
    newest = fetch_all(IN_NEWEST, {"text": text, "limit": NEWEST_MAX})
    found = {match.message_id for match in matches} | {message_id for (message_id,) in newest}
    return found | ids_of_unpublished(text, limit=MATCHES_MAX)
