"""Invalid values in every parameter, path and field of the admin: no 5xx, and no row changes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any
from urllib.parse import quote, urlencode
from uuid import uuid4

import pytest
from django.contrib import admin
from django.test import Client

from config.admin.model_admin import ReadOnlyModelAdmin
from tests.admin.every_page import SENT, EveryPage, session_of, snapshot
from tests.factories import SuperAdminFactory

pytestmark = pytest.mark.django_db

INVALID = ("", "nonsense", "-1", "9" * 400, "a\x00b", "\ud800")
FORM = "application/x-www-form-urlencoded"
PARAMETERS = ("p", "o", "q", "e", "all", "_facets", "_to_field", "_popup", "_changelist_filters", "pk__in")
LOOKUPS = ("", "__exact", "__gte", "__nope")


def half(turn: int) -> tuple[str, ...]:
    """Every second value, alternating: the same code reads a parameter of all lists and a field of several forms."""
    return INVALID[turn % 2 :: 2]


def queries_of(rows: ReadOnlyModelAdmin, turn: int) -> Iterator[str]:
    filters = (each[0] if isinstance(each, tuple) else each for each in rows.list_filter)
    named = [str(getattr(each, "parameter_name", each)) for each in filters]
    for number, name in enumerate((*PARAMETERS, *(name + lookup for name, lookup in product(named, LOOKUPS)))):
        yield from (urlencode({name: value}, errors="surrogatepass") for value in half(turn + number))
    yield "p=1&p=x&o=1.2.3&o=-1.-99.x"
    yield "nonsense=1&__=2&status__=3&status__exact__exact=4"


def path_of(model: Any) -> str:
    return f"/admin/{model._meta.app_label}/{model._meta.model_name}/"


def send(client: Client, path: str, sent: Any = None, wrong: list[str] | None = None) -> None:
    """Send a request; add it to `wrong` if the response is a 5xx or the view raises."""
    try:
        response = (
            client.get(path)
            if sent is None
            else client.post(path, urlencode(sent, doseq=True, errors="surrogatepass"), content_type=FORM)
        )
    except Exception as failure:  # noqa: BLE001  each is a 500
        error = repr(failure)
    else:
        error = str(response.status_code) if response.status_code >= 500 else ""
    if error and wrong is not None:
        wrong.append(f"{error[:200]} to {path[:200]!r} {str(sent)[:200]}")


@pytest.fixture
def every_page() -> EveryPage:
    return EveryPage()


@pytest.fixture
def client() -> Client:
    return session_of(SuperAdminFactory())


def test_invalid_query_of_every_list_is_not_a_5xx(every_page: EveryPage, client: Client) -> None:
    wrong: list[str] = []
    before = snapshot()
    for turn, (model, rows) in enumerate(admin.site._registry.items()):
        for query in queries_of(rows, turn):
            send(client, f"{path_of(model)}?{query}", wrong=wrong)
    assert wrong == []
    assert snapshot() == before


def test_invalid_selection_of_every_action_is_not_a_5xx(every_page: EveryPage, client: Client) -> None:
    wrong: list[str] = []
    before = snapshot()
    for model, rows in admin.site._registry.items():
        path, unknown = path_of(model), str(uuid4())
        for name in (*(decision.name for decision in rows.row_actions), "nonsense"):
            sent = SENT | {"action": name, "confirmed": "1"}
            for value in INVALID:
                send(client, path, sent | {"_selected_action": [value, unknown]}, wrong)
            send(client, path, sent | {"_selected_action": ["a", "\x00", "-1"], "confirmed": []}, wrong)
            for index, across in (("x", ""), ("-1", "\x00"), ("9" * 400, "0")):
                more = {"index": index, "select_across": across}
                send(client, path, sent | {"_selected_action": unknown} | more, wrong)
        send(client, path, {"_save": "1", "form-TOTAL_FORMS": "x", "_selected_action": ["x"]}, wrong)
    assert wrong == []
    assert snapshot() == before


def test_invalid_value_in_every_path_is_not_a_5xx(every_page: EveryPage, client: Client) -> None:
    wrong: list[str] = []
    before = snapshot()
    ends = ("", "change/", "history/", "delete/", "approve/", "try-words/", "nonsense/")
    for model, value, end in product(admin.site._registry, INVALID, ends):
        path = f"{path_of(model)}{quote(value, safe='', errors='surrogatepass')}/{end}"
        send(client, path, wrong=wrong)
        send(client, path, SENT, wrong)
    for value in INVALID:
        quoted = quote(value, safe="", errors="surrogatepass")
        for path in (
            "/admin/{}/",
            "/admin/r/{}/{}/",
            "/admin/jsi18n/?language={}",
            "/admin/autocomplete/?term={}&app_label={}",
        ):
            send(client, path.format(quoted, quoted), wrong=wrong)
        send(client, f"/admin/login/?next={quoted}", {"username": value, "password": value, "next": value}, wrong)
    assert wrong == []
    assert {table for table, rows in snapshot().items() if before[table] != rows} <= set()


def test_invalid_value_in_every_form_field_is_not_a_5xx(every_page: EveryPage, client: Client) -> None:
    """A form that is still valid may be saved; the test only excludes a 5xx."""
    wrong: list[str] = []
    parameters = ("_popup", "_to_field", "_saveasnew", "_continue", "_changelist_filters", "address")
    fields = (*SENT, "opened", "blocked_words", "allowed_tag_types", "community_ids")
    for turn, path in enumerate(_forms(every_page)):
        for number, name in enumerate((*fields, *parameters), start=turn):
            for value in half(number):
                send(client, path, SENT | {name: value}, wrong)
        for number, name in enumerate(parameters, start=turn):
            for value in half(number):
                send(client, f"{path}?{urlencode({name: value}, errors='surrogatepass')}", wrong=wrong)
        send(client, path, {}, wrong)
        send(client, path, {name: [value, value] for name, value in SENT.items()}, wrong)
    assert wrong == []


def _forms(every_page: EveryPage) -> list[str]:
    """One path of each kind of form, and every community's form."""
    kinds = ("add/", "change/", "approve/", "narrow/", "freeze/", "disable/", "hide/", "try-words/")
    paths = [next(path for path in every_page.paths() if path.endswith(f"/{kind}")) for kind in kinds]
    return [*paths, *(path for path in every_page.paths() if "/community/" in path and path.endswith("/change/"))]
