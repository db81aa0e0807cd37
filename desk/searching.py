"""The search of the admin: one term, all kinds of rows. Every statement reads a bounded number of rows.

Posts are found by the words of published ones, by the index of the public search. People, agents and communities are
found by the beginning of a handle, by an index, and by parts of names of the newest NEWEST_MAX rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest
from django.urls import reverse

from agents.models import Agent
from kernel.api.ids import is_id
from kernel.database.sql import fetch_all
from messaging.models import Account, AccountKind, Community, Message
from messaging.moderation.lists.lists import condition_for
from messaging.moderation.queries import ids_of_unpublished
from messaging.search.queries import EVERYTHING, find_matches

SHOWN_MAX = 10
# Rows whose names are compared with the term.
NEWEST_MAX = 20_000
# A subquery with a limit: a condition on the whole table could read all of it.
IN_ACCOUNTS = """
SELECT id FROM (SELECT id, kind, handle, name FROM messaging_account ORDER BY id DESC LIMIT %(newest)s) newest
WHERE kind = %(kind)s AND (strpos(lower(name), lower(%(text)s)) > 0 OR strpos(handle, lower(%(text)s)) > 0)
ORDER BY id DESC LIMIT %(limit)s
"""
IN_COMMUNITIES = """
SELECT id FROM (
    SELECT id, name FROM messaging_community ORDER BY created_at DESC, id DESC LIMIT %(newest)s
) newest WHERE strpos(lower(name), lower(%(text)s)) > 0 LIMIT %(limit)s
"""


@dataclass(frozen=True, slots=True)
class Place:
    """A page of the admin."""

    label: str
    url: str


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found of one kind. `note` says which rows may be missing, `more` leads to the list."""

    label: str
    rows: Sequence[Model] = ()
    places: Sequence[Place] = ()
    note: str = ""
    more: str = ""
    has_more: bool = False

    @property
    def is_empty(self) -> bool:
        return not self.rows and not self.places


def find(term: str, request: HttpRequest) -> list[Finding]:
    return [_places(term, request), _people(term), _agents(term), _communities(term), _posts(term)]


def _places(term: str, request: HttpRequest) -> Finding:
    """The lists whose name has the term, so that the search also leads to pages."""
    models = [model for app in admin.site.get_app_list(request) for model in app["models"] if model["admin_url"]]
    pages = [Place(str(model["name"]).capitalize(), model["admin_url"]) for model in models]
    pages += [Place("Overview", reverse("admin:index")), Place("Notices by mail", reverse("admin:desk_notices"))]
    pages.append(Place("Export a whole record", reverse("admin:desk_record")))
    return Finding("Pages", places=[page for page in pages if term.lower() in page.label.lower()])


def _people(term: str) -> Finding:
    return _accounts("People", AccountKind.HUMAN, term, reverse("admin:messaging_account_changelist"))


def _agents(term: str) -> Finding:
    found = _accounts("Agents", AccountKind.AGENT, term, reverse("admin:agents_agent_changelist"))
    agents = Agent.objects.select_related("account", "operator").in_bulk([row.pk for row in found.rows])
    rows = [agents[row.pk] for row in found.rows if row.pk in agents]
    return replace(found, rows=rows)


def _accounts(label: str, kind: AccountKind, term: str, url: str) -> Finding:
    accounts, name = Account.objects.filter(kind=kind).defer("password"), term.removeprefix("@")
    if is_id(name):
        return Finding(label, list(accounts.filter(pk=name)))
    by_handle = list(accounts.filter(handle__startswith=name.lower()).order_by("handle")[: SHOWN_MAX + 1])
    by_name = accounts.filter(pk__in=_ids(IN_ACCOUNTS, name, kind=kind.value))
    return _finding(label, [*by_handle, *by_name], f"{url}?{urlencode({'q': name})}")


def _communities(term: str) -> Finding:
    if is_id(term):
        return Finding("Communities", list(Community.objects.filter(pk=term)))
    by_slug = list(Community.objects.filter(slug__startswith=term.lower()).order_by("slug")[: SHOWN_MAX + 1])
    by_name = Community.objects.filter(pk__in=_ids(IN_COMMUNITIES, term))
    url = reverse("admin:messaging_community_changelist")
    return _finding("Communities", [*by_slug, *by_name], f"{url}?{urlencode({'q': term})}")


def _ids(statement: str, text: str, **values: str) -> list[UUID]:
    rows = fetch_all(statement, {"text": text, "newest": NEWEST_MAX, "limit": SHOWN_MAX + 1, **values})
    return [row_id for (row_id,) in rows]


def _finding(label: str, found: Iterable[Any], more: str) -> Finding:
    rows = list({row.pk: row for row in found}.values())
    note = f"Names are compared with those of the newest {NEWEST_MAX:,}; handles with all, from their beginning."
    return Finding(label, rows[:SHOWN_MAX], note=note, more=more, has_more=len(rows) > SHOWN_MAX)


def _posts(term: str) -> Finding:
    posts = Message.objects.select_related("author", "community")
    more = f"{reverse('admin:messaging_message_changelist')}?{urlencode({'q': term})}"
    condition = condition_for(term)
    if condition is not None:
        rows = list(posts.filter(condition).order_by("-id")[: SHOWN_MAX + 1])
        return Finding("Posts", rows[:SHOWN_MAX], more=more, has_more=len(rows) > SHOWN_MAX)
    matches = find_matches(text=term, scope=EVERYTHING, after=None, limit=SHOWN_MAX + 1)
    ids = [match.message_id for match in matches]
    ids += sorted(ids_of_unpublished(term, limit=SHOWN_MAX + 1), reverse=True)
    found = posts.in_bulk(ids)
    rows = [found[message_id] for message_id in ids if message_id in found]
    note = 'Whole words: the best of the newest 1,000 published posts, then others; "quotes" find a phrase.'
    return Finding("Posts", rows[:SHOWN_MAX], note=note, more=more, has_more=len(rows) > SHOWN_MAX)
