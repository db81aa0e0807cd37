"""The search of the admin: one term, all kinds of rows. Every statement reads a bounded number of rows.

Posts are found by the words of published ones, by the index of the public search. People, agents and communities are
found by the beginning of a handle, by an index, and by parts of names of the newest NEWEST_MAX rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from django.contrib import admin
from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest
from django.urls import reverse

from agents.models import Agent
from config.api.ids import is_id
from messaging.admin.searching import condition_for
from messaging.models import Account, AccountKind, Community, Message
from messaging.queries.search import find_matches

SHOWN_MAX = 10
# Rows whose names are compared with the term.
NEWEST_MAX = 20_000


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
    has_more: bool = field(default=False)

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
    return Finding("Pages", places=[page for page in pages if term.lower() in page.label.lower()])


def _people(term: str) -> Finding:
    people = Account.objects.filter(kind=AccountKind.HUMAN).defer("password")
    return _accounts("People", term, people, reverse("admin:messaging_account_changelist"))


def _agents(term: str) -> Finding:
    found = _accounts(
        "Agents",
        term,
        Account.objects.filter(kind=AccountKind.AGENT).defer("password"),
        reverse("admin:agents_agent_changelist"),
    )
    agents = Agent.objects.select_related("account", "operator").in_bulk([row.pk for row in found.rows])
    rows = [agents[row.pk] for row in found.rows if row.pk in agents]
    return Finding(found.label, rows, note=found.note, has_more=found.has_more, more=found.more)


def _accounts(label: str, term: str, accounts: QuerySet[Account], url: str) -> Finding:
    name = term.removeprefix("@")
    if is_id(name):
        return Finding(label, list(accounts.filter(pk=name)))
    by_handle = list(accounts.filter(handle__startswith=name.lower()).order_by("handle")[: SHOWN_MAX + 1])
    # Without an own order of the outer statement, PostgreSQL reads the newest rows and stops at the limit.
    newest = Account.objects.order_by("-pk").values("pk")[:NEWEST_MAX]
    by_name = _named(accounts, newest, Q(name__icontains=name) | Q(handle__contains=name.lower()))
    return _finding(label, by_handle, by_name, f"{url}?q={name}")


def _communities(term: str) -> Finding:
    if is_id(term):
        return Finding("Communities", list(Community.objects.filter(pk=term)))
    by_slug = list(Community.objects.filter(slug__startswith=term.lower()).order_by("slug")[: SHOWN_MAX + 1])
    newest = Community.objects.order_by("-created_at", "-pk").values("pk")[:NEWEST_MAX]
    by_name = _named(Community.objects.all(), newest, Q(name__icontains=term))
    return _finding("Communities", by_slug, by_name, f"{reverse('admin:messaging_community_changelist')}?q={term}")


def _named(rows: QuerySet[Any], newest: QuerySet[Any], condition: Q) -> list[Any]:
    return list(rows.filter(condition, pk__in=newest)[: SHOWN_MAX + 1])


def _finding(label: str, first: list[Any], second: list[Any], more: str) -> Finding:
    rows = list({row.pk: row for row in [*first, *second]}.values())
    note = f"Names are compared with those of the newest {NEWEST_MAX:,}; handles with all, from their beginning."
    return Finding(label, rows[:SHOWN_MAX], note=note, more=more, has_more=len(rows) > SHOWN_MAX)


def _posts(term: str) -> Finding:
    posts = Message.objects.select_related("author", "community")
    more = f"{reverse('admin:messaging_message_changelist')}?q={term}"
    condition = condition_for(term)
    if condition is not None:
        rows = list(posts.filter(condition).order_by("-id")[: SHOWN_MAX + 1])
        return Finding("Posts", rows[:SHOWN_MAX], more=more, has_more=len(rows) > SHOWN_MAX)
    matches = find_matches(text=term, scope={}, after=None, limit=SHOWN_MAX + 1)
    found = posts.in_bulk([match.message_id for match in matches])
    rows = [found[match.message_id] for match in matches if match.message_id in found]
    note = 'Whole words of published posts, the best of the newest 1,000 matches; "quotes" find a phrase.'
    return Finding("Posts", rows[:SHOWN_MAX], note=note, more=more, has_more=len(rows) > SHOWN_MAX)
