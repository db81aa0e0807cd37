"""Invalid input to every list, path and form of the admin: never a 5xx, and what is refused changes no row."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from itertools import product
from typing import Any
from urllib.parse import quote, urlencode
from uuid import uuid4

import pytest
from django.contrib import admin
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction

from config.admin.model_admin import ReadOnlyModelAdmin
from messaging.models import Account, SavedList
from tests.admin.every_form import CONFIRMED, Form, every_form
from tests.admin.every_page import SENT, EveryPage, session_of, snapshot
from tests.admin.pages import page
from tests.factories import SuperAdminFactory

pytestmark = [pytest.mark.slow, pytest.mark.django_db]

LONG = "9" * 5_000
INVALID = ("", "nonsense", "-1", "²", LONG, "a\x00b", "\ud800")
FORM = "application/x-www-form-urlencoded"
PARAMETERS = ("p", "o", "e", "all", "_facets", "_to_field", "_popup", "_changelist_filters", "_return")
PARAMETERS += ("pk__in", "\x00")
LOOKUPS = ("", "__exact", "__gte", "__nope")
# Any value of these is accepted: flags, texts that are not stored, and places and moments that are ignored if unknown.
FREE = {"agents_may_post", "people_may_post", "read_only", "post", "text", "_save", "_addanother", "_continue"}
FREE |= {"from_list", "next", "opened", "query", "confirmed", "index", "select_across", "as_of", "counted"}
# For the script of a list; other clients get a page.
JSON = {"Accept": "application/json"}


def some(turn: int, of: int = 2) -> tuple[str, ...]:
    """Every second (third, …) value, alternating: the same code reads a parameter of all lists and of several forms."""
    return INVALID[turn % of :: of]


def queries_of(rows: ReadOnlyModelAdmin, turn: int) -> Iterator[str]:
    filters = (each[0] if isinstance(each, tuple) else each for each in rows.list_filter)
    named = [str(getattr(each, "parameter_name", each)) for each in filters]
    for number, name in enumerate(PARAMETERS, start=turn):
        yield from (urlencode({name: value}, errors="surrogatepass") for value in some(number, of=4))
    for number, (name, lookup) in enumerate(product(named, LOOKUPS), start=turn):
        yield from (urlencode({name + lookup: value}, errors="surrogatepass") for value in some(number, of=3))
    yield "p=1&p=x&o=1.2.3&o=-1.-99.x"
    yield "nonsense=1&__=2&status__=3&status__exact__exact=4"


class Sender:
    """Sends requests as a super admin. `wrong` has those whose response is a 5xx, or whose view raises."""

    def __init__(self, account: Account) -> None:
        self.client = session_of(account)
        self.wrong: list[str] = []

    def get(self, path: str) -> None:
        self._record(lambda: self.client.get(path), path)

    def post(self, path: str, sent: Any, headers: dict[str, str] | None = None) -> None:
        body = urlencode(sent, doseq=True, errors="surrogatepass")
        self._record(lambda: self.client.post(path, body, content_type=FORM, headers=headers), path, sent)

    def submit(self, form: Form, sent: Any, **options: Any) -> None:
        if form.method == "post":
            self.post(form.path, sent, **options)
        else:
            self.get(f"{form.path}?{urlencode(sent, doseq=True, errors='surrogatepass')}")

    def upload(self, form: Form) -> None:
        """Send a file in place of each value."""
        files = {name: SimpleUploadedFile("a", b"\x00") for name in form.sent}
        self._record(lambda: self.client.post(form.path, files), form.path, "files")

    @contextmanager
    def undone(self) -> Iterator[None]:
        """Undo what the requests change, and the end of the session."""
        cookies = deepcopy(self.client.cookies)
        with transaction.atomic():
            yield
            transaction.set_rollback(True)
        self.client.cookies = cookies

    def _record(self, request: Any, path: str, sent: Any = "") -> None:
        try:
            response = request()
        except Exception as failure:  # noqa: BLE001  each is a 500
            error = repr(failure)
        else:
            error = str(response.status_code) if response.status_code >= 500 else ""
        if error:
            self.wrong.append(f"{error[:200]} to {path[:200]!r} {str(sent)[:200]}")


@pytest.fixture
def every_page() -> EveryPage:
    return EveryPage()


@pytest.fixture
def boss(every_page: EveryPage) -> Account:
    account: Account = SuperAdminFactory(handle="the_boss")
    SavedList.objects.create(account=account, of="messaging.message", name="Saved", query="status__exact=pending")
    return account


@pytest.fixture
def sender(boss: Account) -> Sender:
    return Sender(boss)


@pytest.fixture
def forms(every_page: EveryPage, sender: Sender) -> list[Form]:
    return every_form(every_page, sender.client)


def test_invalid_query_of_every_list_is_not_a_5xx(sender: Sender) -> None:
    before = snapshot()
    for turn, (model, rows) in enumerate(admin.site._registry.items()):
        for query in queries_of(rows, turn):
            sender.get(f"{page(model, 'changelist')}?{query}")
    assert sender.wrong == []
    assert snapshot() == before


def test_invalid_selection_of_every_action_is_not_a_5xx(sender: Sender) -> None:
    before, unknown = snapshot(), str(uuid4())
    for turn, (model, rows) in enumerate(admin.site._registry.items()):
        path = page(model, "changelist")
        for number, name in enumerate((*(decision.name for decision in rows.row_actions), "nonsense"), start=turn):
            sent = SENT | {"action": name, "confirmed": "1"}
            for value in some(number):
                sender.post(path, sent | {"_selected_action": [value, unknown]})
            sender.post(path, sent | {"_selected_action": ["a", "\x00", "-1"], "confirmed": []})
            sender.post(path, sent | {"_selected_action": unknown, "index": "x", "select_across": ""})
        sender.post(path, {"_save": "1", "form-TOTAL_FORMS": "x", "_selected_action": ["x"]})
    assert sender.wrong == []
    assert snapshot() == before


def test_invalid_value_in_every_path_is_not_a_5xx(sender: Sender) -> None:
    before = snapshot()
    ends = ("", "change/", "history/", "delete/", "approve/", "decide/", "try-words/", "nonsense/")
    for turn, (model, end) in enumerate(product(admin.site._registry, ends)):
        for number, value in enumerate(INVALID, start=turn):
            path = f"{page(model, 'changelist')}{quote(value, safe='', errors='surrogatepass')}/{end}"
            sender.post(path, SENT) if number % 2 else sender.get(path)
    for value in INVALID:
        quoted = quote(value, safe="", errors="surrogatepass")
        for path in (
            *("/admin/{}/", "/admin/r/{}/{}/", "/admin/record/{}/", "/admin/jsi18n/?language={}"),
            "/admin/autocomplete/?term={}&app_label={}",
        ):
            sender.get(path.format(quoted, quoted))
        sender.post(f"/admin/login/?next={quoted}", {"username": value, "password": value, "next": value})
    assert sender.wrong == []
    assert snapshot() == before


def test_no_form_accepts_what_is_too_long_or_has_a_nul_or_is_no_choice(sender: Sender, forms: list[Form]) -> None:
    before, sent = snapshot(), 0
    for form in forms:
        # Fields `seen-ID` have moments too; fields `initial-NAME` are only compared.
        for name in (one for one in form.sent.keys() - FREE if not one.startswith(("seen-", "initial-"))):
            sender.submit(form, form.sent | {name: LONG})
            if name in form.choices:
                sender.submit(form, form.sent | {name: "nonsense"})
            sent += 1
        if form.sent:
            sender.submit(form, form.sent | dict.fromkeys(form.sent, "a\x00b"))
    assert sender.wrong == []
    assert snapshot() == before
    assert sent > 50


def test_invalid_value_in_every_form_field_is_not_a_5xx(sender: Sender, forms: list[Form]) -> None:
    """A form that is still valid is carried out, and undone."""
    before = snapshot()
    for turn, form in enumerate(forms):
        # Those of a confirmation page are read by the same code of all lists.
        names = [name for name in form.sent if name not in CONFIRMED or turn % 3 == 0]
        for number, name in enumerate(names, start=turn):
            values = [*INVALID, [*form.sent[name], "nonsense"], []]
            for value in values[number % 4 :: 4]:
                with sender.undone():
                    sender.submit(form, form.sent | {name: value}, headers=JSON)
        with sender.undone():
            sender.upload(form)
    assert sender.wrong == []
    assert snapshot() == before
    assert sender.client.get("/admin/").status_code == 200
