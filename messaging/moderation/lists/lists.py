"""The base class of lists in which rows are decided.

Filters and the search of lists, whose cost depends neither on the number of communities nor on that of older rows.

The search of posts by ids, handles, addresses and words reads a bounded number of posts in each statement.
"""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from itertools import zip_longest
from typing import Any, cast
from uuid import UUID

from django.contrib import admin
from django.contrib.admin import DateFieldListFilter, RelatedFieldListFilter
from django.contrib.admin.views.main import ChangeList
from django.core.exceptions import ValidationError
from django.db.models import Q, QuerySet
from django.forms import Script
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.template.loader import render_to_string
from django.urls import URLPattern, path, reverse
from django.utils.safestring import SafeString
from django.utils.timezone import is_aware

from kernel.admin.actions import AdminAction
from kernel.admin.changelists import Columns, csv_response
from kernel.admin.formatting import NOTHING, as_fields, badge, lines, plain
from kernel.api.ids import is_id
from kernel.database.sql import fetch_all
from messaging.models import Community, Message, MessageStatus, MessageVersion, ReasonFor
from messaging.models.moderation import reasons_for
from messaging.moderation.lists import many
from messaging.moderation.lists.deciding import DecidableRows, decide_one
from messaging.moderation.queries import ids_of_unpublished
from messaging.pages.page_ids import InvalidUrl, is_page_id, normalize
from messaging.posts.partitioning.tables import first_id
from messaging.search.queries import EVERYTHING, MATCHES_MAX, find_matches

POST_BADGES = {MessageStatus.PUBLISHED: "good", MessageStatus.PENDING: "waiting", MessageStatus.HIDDEN: "bad"}
IN_HIDDEN_THREAD = "published, in a hidden thread"


def post_badge(message: Message) -> SafeString:
    if message.status == MessageStatus.PUBLISHED and message.in_hidden_thread:
        return badge(IN_HIDDEN_THREAD, "bad")
    return badge(message.status, POST_BADGES.get(MessageStatus(message.status), ""))


def version_text(version: MessageVersion) -> str | SafeString:
    """The fields of a version that are not empty; the text without its name."""
    content = dict(version.content)
    parts = [plain(content.pop("content", ""))]
    parts += [lines([name.replace("_", " "), as_fields(value)]) for name, value in content.items() if value]
    return lines([part for part in parts if part != NOTHING])


LISTED_MAX = 50
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# The time of an id is that of the clock of a host, and `created_at` that of PostgreSQL.
AHEAD = timedelta(days=1)


def distinct_names(communities: QuerySet[Community]) -> list[tuple[UUID, str]]:
    """The ids and names. Where two have one name, each has its slug in brackets."""
    # Without the word lists, which are long.
    rows = list(communities.values_list("pk", "name", "slug"))
    times = Counter(name for _pk, name, _slug in rows)
    return [(pk, f"{name} ({slug})" if times[name] > 1 else name) for pk, name, slug in rows]


class CommunityFilter(RelatedFieldListFilter):
    """Links to the first communities by name, and to the chosen one. The page of a community links to its posts."""

    def field_choices(self, field: Any, request: HttpRequest, model_admin: Any) -> list[tuple[Any, Any]]:
        communities = Community.objects.order_by("name", "pk")
        first = distinct_names(communities[:LISTED_MAX])
        chosen = {_id_of(field, value) for value in self.lookup_val or ()} - {None, *(pk for pk, _name in first)}
        return [*first, *(distinct_names(communities.filter(pk__in=list(chosen)[:1])) if chosen else ())]


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


class DecidingAdmin(DecidableRows):
    """Each row of the list has buttons for the actions with a key, and a bar below the list has those of the current
    row. `static/admin/desk/queue.js` adds the keys, and decides without loading the page again.
    """

    change_list_template = "admin/desk/list.html"
    list_per_page = 25
    # For what reasons are offered; each can be edited before it is sent.
    decides: ReasonFor
    csv_columns: Columns = {}

    class Media:
        css = {"all": ["admin/desk/queue.css"]}
        js = [Script("admin/desk/queue.js", defer=True)]

    def prepare_rows(self, rows: list[Any]) -> None:
        """Load what the columns of the list show, for all rows at once."""

    def review_template(self, row: Any) -> tuple[str, dict[str, Any]]:
        """The template of the fold-out of a row, and its context."""
        raise NotImplementedError

    def available_actions(self, row: Any) -> dict[str, Any]:
        """Actions with a key are in the bar of the page, not among its links."""
        available = super().available_actions(row)
        available["linked_actions"] = [action for action in available["linked_actions"] if not action.key]
        bar = {
            "bar_actions": self.listed_actions(row),
            "decide_url": self._decide_url,
            "reasons": reasons_for(self.decides),
        }
        return available | bar

    @property
    def _decide_url(self) -> str:
        return f"admin:{self.url_name('decide')}"

    def listed_actions(self, row: Any) -> list[AdminAction]:
        return [action for action in self.row_actions if action.key and action.is_available(row)]

    def get_urls(self) -> list[URLPattern]:
        views = {"csv/": ("csv", self.csv_view), "saved/": ("saved", self.saved_view)}
        own = [
            path(part, self.admin_site.admin_view(view), name=self.url_name(name))
            for part, (name, view) in views.items()
        ]
        decide = path("<uuid:pk>/decide/", self.admin_site.admin_view(self.decide_view), name=self.url_name("decide"))
        return [*own, decide, *super().get_urls()]

    def get_changelist_instance(self, request: HttpRequest) -> ChangeList:
        changes = super().get_changelist_instance(request)
        rows = list(changes.result_list)
        self.prepare_rows(rows)
        for row, following in zip_longest(rows, rows[1:]):
            row.next_pk = following.pk if following else ""
            row.list_url = f"{request.get_full_path()}#row-{row.pk}"
        changes.result_list = rows
        return changes

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        more = {
            "reasons": reasons_for(self.decides),
            "listed_actions": [action for action in self.row_actions if action.key],
            "saved_lists": many.lists_of(request, self.model),
            "list_query": request.GET.urlencode(),
            "saved_url": reverse(f"admin:{self.url_name('saved')}"),
            "csv_url": reverse(f"admin:{self.url_name('csv')}"),
            "decide_url": self._decide_url,
        }
        return super().changelist_view(request, more | (extra_context or {}))

    def decide_view(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        return decide_one(self, request, pk)

    def csv_view(self, request: HttpRequest) -> HttpResponseBase:
        """The list with the filters of the query."""
        rows = many.filtered(self, request)
        if rows is None:
            return HttpResponseRedirect(reverse(f"admin:{self.url_name('changelist')}"))
        return csv_response(rows, self.csv_columns, name=str(self.opts.model_name))

    def saved_view(self, request: HttpRequest) -> HttpResponse:
        return many.change(self, request)

    @admin.display(description="review")
    def review(self, row: Any) -> SafeString:
        template, context = self.review_template(row)
        return render_to_string(template, context | {"row": row})

    @admin.display(description="decide")
    def decide(self, row: Any) -> SafeString:
        context = {"row": row, "name": self.name_of(row), "actions": self.listed_actions(row)}
        return render_to_string("admin/desk/decide.html", context)
