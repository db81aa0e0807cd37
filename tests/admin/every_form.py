"""Every form of the admin: those of the actions of its lists, and those found on its pages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from urllib.parse import urljoin, urlsplit

from bs4 import BeautifulSoup, Tag
from django import forms
from django.test import Client

from tests.admin.every_page import SENT, EveryPage, kind_of, registered_admins
from tests.admin.pages import page

Sent = dict[str, list[str]]
# What a user types; for other fields the pages suggest a value.
TYPED = SENT | {"account": "the_boss", "old_password": "x", "of": "post", "position": "1", "q": "harbour"}
# What the confirmation page of an action on several rows sends.
CONFIRMED = {"confirmed": "1", "index": "0", "select_across": "0", "as_of": "2026-01-01T00:00:00Z", "counted": "1"}
# Without a form of their own, or, as the sign-out, on every page.
NO_FORM = ("/history/", "/jsi18n/", "/csv/", "/logout/")


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
    for model, rows in registered_admins():
        ids = [str(pk) for pk in model._default_manager.values_list("pk", flat=True)]
        for action in rows.row_actions:
            row = model._default_manager.get(pk=ids[0])
            fields = action.form(row=row, action=action).fields
            sent = {name: _typed(name) for name in fields}
            choices = frozenset(name for name, field in fields.items() if isinstance(field, forms.ChoiceField))
            yield Form("post", page(row, action.name), sent, choices)
            if action.bulk:
                confirmed = {name: [value] for name, value in CONFIRMED.items()}
                chosen = {"action": [action.name], "_selected_action": ids} | confirmed
                yield Form("post", page(model, "changelist"), sent | chosen, choices)
            if hasattr(rows, "decide_view"):
                yield Form("post", page(row, "decide"), sent | {"decision": [action.name]}, choices)


def _of_pages(every_page: EveryPage, client: Client) -> tuple[list[Form], set[str]]:
    """The forms on a page of each kind, and the kinds of path that are no page."""
    actions = {f"/{action.name}/" for _, rows in registered_admins() for action in rows.row_actions}
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
