"""Invalid input to every list, path and form of the admin: never a 5xx, and what is refused changes no row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, replace
from itertools import product
from typing import Any
from urllib.parse import quote, urlencode, urljoin, urlsplit
from uuid import uuid4

import pytest
from bs4 import BeautifulSoup, Tag
from django.contrib import admin
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction
from django.forms import ChoiceField
from django.test import Client

from agents.models import AgentRequest
from kernel.admin.model_admin import ReadOnlyModelAdmin
from messaging.models import Account, SavedList
from tests.admin.every_page import SENT, EveryPage, kind_of, session_of, snapshot
from tests.admin.pages import page
from tests.factories import SuperAdminFactory

Sent = dict[str, list[str]]
# What a user types; for other fields the pages suggest a value.
TYPED = SENT | {"account": "the_boss", "old_password": "x", "of": "post", "position": "1", "q": "harbour"}
# What the confirmation page of an action on several rows sends.
CONFIRMED = {"confirmed": "1", "index": "0", "select_across": "0", "as_of": "2026-01-01T00:00:00Z", "counted": "1"}
# These have no form of their own, or, like the sign-out, one on every page.
NO_FORM = ("/history/", "/jsi18n/", "/csv/", "/logout/")
pytestmark = pytest.mark.django_db
LONG = "9" * 5_000
INVALID = ("", "nonsense", "-1", "²", LONG, "a\x00b", "\ud800")
FORM = "application/x-www-form-urlencoded"
PARAMETERS = ("p", "o", "e", "all", "_facets", "_to_field", "_popup", "_changelist_filters", "_return")
PARAMETERS += ("pk__in", "\x00")
LOOKUPS = ("", "__exact", "__gte", "__nope")
# Any value of these is accepted: flags, texts that are not stored, and places and moments that are ignored if unknown.
FREE = {"agents_may_post", "people_may_post", "read_only", "post", "text", "_save", "_addanother", "_continue"}
FREE |= {"from_list", "next", "opened", "query", "confirmed", "index", "select_across", "as_of", "counted"}
# The script of a list asks for it; other clients get a page.
JSON = {"Accept": "application/json"}


@dataclass(frozen=True, slots=True)
class Form:
    """`sent` is what a user sends; `choices` are the fields that offer their values."""

    method: str
    path: str
    sent: Sent
    choices: frozenset[str] = frozenset()

    @property
    def kind(self) -> tuple[str, ...]:
        """What distinguishes it from the same form of another row."""
        named = [name for field in ("action", "decision", "remove") for name in self.sent.get(field, ())]
        return self.method, kind_of(self.path), *named[:1]


def every_form(every_page: EveryPage, client: Client) -> list[Form]:
    """One form of each kind, with the fields that any form of the kind has; of every path that only takes forms."""
    found: dict[tuple[str, ...], Form] = {}
    on_pages, closed = _of_pages(every_page, client)
    for form in (*_of_actions(), *on_pages):
        known = found.get(form.kind, form)
        found[form.kind] = replace(known, sent=form.sent | known.sent, choices=form.choices | known.choices)
    assert closed
    assert closed <= {kind_of(form.path) for form in found.values()}
    return list(found.values())


def _of_actions() -> Iterator[Form]:
    """An action on one row, on several, and as a decision in the list."""
    for model, rows in admin.site._registry.items():
        ids = [str(pk) for pk in model._default_manager.values_list("pk", flat=True)]
        for action in rows.row_actions:
            row = model._default_manager.get(pk=ids[0])
            fields = action.form(row=row, action=action).fields
            sent = {name: _typed(name) for name in fields}
            choices = frozenset(name for name, field in fields.items() if isinstance(field, ChoiceField))
            yield Form("post", page(row, action.name), sent, choices)
            if action.bulk:
                confirmed = {name: [value] for name, value in CONFIRMED.items()}
                chosen = {"action": [action.name], "_selected_action": ids} | confirmed
                yield Form("post", page(model, "changelist"), sent | chosen, choices)
            if hasattr(rows, "decide_view"):
                yield Form("post", page(row, "decide"), sent | {"decision": [action.name]}, choices)


def _of_pages(every_page: EveryPage, client: Client) -> tuple[list[Form], set[str]]:
    """The forms on a page of each kind, and the kinds of path that are no page."""
    actions = {f"/{action.name}/" for rows in admin.site._registry.values() for action in rows.row_actions}
    kinds = {kind_of(path): path for path in every_page.paths() if not path.endswith((*actions, *NO_FORM))}
    found, closed = list[Form](), set[str]()
    for kind, path in kinds.items():
        response = client.get(path)
        if response.status_code == 405:
            closed.add(kind)
        elif response.status_code == 200 and response["Content-Type"].startswith("text/html"):
            soup = BeautifulSoup(response.content, "html.parser")
            found += [_form(form, path, soup) for form in soup.find_all("form")]
    return found, closed


def _form(form: Tag, path: str, soup: BeautifulSoup) -> Form:
    named = "input[name], select[name], textarea[name], button[name]"
    own = [field for field in form.select(named) if not field.get("form")]
    fields = [*own, *(soup.select(f'[form="{form["id"]}"][name]') if form.get("id") else ())]
    names = [str(field["name"]) for field in fields if field["name"] != "csrfmiddlewaretoken"]
    target = urlsplit(urljoin(path, str(form.get("action", "")))).path
    offered = (str(field["name"]) for field in fields if field.name == "select" or field.get("type") == "radio")
    sent = {name: _typed(name) if name in TYPED else list(_suggested(name, fields))[:1] for name in names}
    return Form(str(form.get("method", "get")), target, sent, frozenset(offered))


def _suggested(name: str, fields: Iterable[Tag]) -> Iterator[str]:
    for field in fields:
        if field["name"] == name:
            chosen = field.select("option[selected], option") if field.name == "select" else [field]
            yield from (str(each.get("value", each.get_text())) for each in chosen)


def _typed(name: str) -> list[str]:
    value = TYPED.get(name, [])
    return list(value) if isinstance(value, list) else [str(value)]


def one(turn: int) -> str:
    """A value in turn: the same code reads a parameter of all lists and of several forms."""
    return INVALID[turn % len(INVALID)]


def queries_of(rows: ReadOnlyModelAdmin, turn: int) -> Iterator[str]:
    filters = (each[0] if isinstance(each, tuple) else each for each in rows.list_filter)
    named = [str(getattr(each, "parameter_name", each)) for each in filters]
    for number, name in enumerate(PARAMETERS, start=turn):
        yield urlencode({name: one(number)}, errors="surrogatepass")
    for number, (name, lookup) in enumerate(product(named, LOOKUPS), start=turn):
        yield urlencode({name + lookup: one(number)}, errors="surrogatepass")
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


def test_invalid_input_about_requests_is_not_a_5xx(sender: Sender) -> None:
    """The quick part of the tests below, for one model."""
    before, path = snapshot(), page(AgentRequest, "changelist")
    for query in queries_of(admin.site._registry[AgentRequest], 0):
        sender.get(f"{path}?{query}")
    for value in INVALID:
        sender.post(path, SENT | {"action": "approve", "confirmed": "1", "_selected_action": [value]})
        sender.get(f"{path}{quote(value, safe='', errors='surrogatepass')}/change/")
    for name, value in product(("reason", "scopes", "community_ids"), (LONG, "a\x00b", "\ud800")):
        sender.post(page(AgentRequest.objects.all()[0], "reject"), SENT | {name: value})
    assert sender.wrong == []
    assert snapshot() == before


@pytest.mark.slow
def test_invalid_query_of_every_list_is_not_a_5xx(sender: Sender) -> None:
    before = snapshot()
    for turn, (model, rows) in enumerate(admin.site._registry.items()):
        for query in queries_of(rows, turn):
            sender.get(f"{page(model, 'changelist')}?{query}")
    assert sender.wrong == []
    assert snapshot() == before


@pytest.mark.slow
def test_invalid_selection_of_every_action_is_not_a_5xx(sender: Sender) -> None:
    before, unknown = snapshot(), str(uuid4())
    for turn, (model, rows) in enumerate(admin.site._registry.items()):
        path = page(model, "changelist")
        for number, name in enumerate((*(decision.name for decision in rows.row_actions), "nonsense"), start=turn):
            sent = SENT | {"action": name, "confirmed": "1"}
            sender.post(path, sent | {"_selected_action": [one(number), unknown]})
            sender.post(path, sent | {"_selected_action": ["a", "\x00", "-1"], "confirmed": []})
            sender.post(path, sent | {"_selected_action": unknown, "index": "x", "select_across": ""})
        sender.post(path, {"_save": "1", "form-TOTAL_FORMS": "x", "_selected_action": ["x"]})
    assert sender.wrong == []
    assert snapshot() == before


@pytest.mark.slow
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


@pytest.mark.slow
def test_no_form_accepts_what_is_too_long_or_has_a_nul_or_is_no_choice(sender: Sender, forms: list[Form]) -> None:
    before, sent = snapshot(), 0
    for form in forms:
        # Fields `seen-ID` have moments too; fields `initial-NAME` are only compared.
        for name in (each for each in form.sent.keys() - FREE if not each.startswith(("seen-", "initial-"))):
            sender.submit(form, form.sent | {name: LONG})
            if name in form.choices:
                sender.submit(form, form.sent | {name: "nonsense"})
            sent += 1
        if form.sent:
            sender.submit(form, form.sent | dict.fromkeys(form.sent, "a\x00b"))
    assert sender.wrong == []
    assert snapshot() == before
    assert sent > 50


@pytest.mark.slow
def test_invalid_value_in_every_form_field_is_not_a_5xx(sender: Sender, forms: list[Form]) -> None:
    """A form that is still valid is carried out, and undone."""
    before = snapshot()
    uses = Counter(name for form in forms for name in form.sent)
    for turn, form in enumerate(forms):
        for number, name in enumerate(form.sent, start=turn):
            values = [*INVALID, [*form.sent[name], "nonsense"], []]
            # The forms that have the field share the values; one form tries a quarter of them at most.
            step = min(max(uses[name], 4), len(values))
            for value in values[number % step :: step]:
                with sender.undone():
                    sender.submit(form, form.sent | {name: value}, headers=JSON)
        with sender.undone():
            sender.upload(form)
    assert sender.wrong == []
    assert snapshot() == before
    assert sender.client.get("/admin/").status_code == 200
