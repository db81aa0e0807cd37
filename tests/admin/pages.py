"""Pages of the desk, by the rows they are about."""

from __future__ import annotations

import re
from typing import Any

from django.db.models import Model
from django.test import Client
from django.urls import reverse
from django.utils.html import strip_tags


def page(row: Model | type[Model], name: str = "change") -> str:
    """The path of a row's page, or of a list (`page(AgentRequest, "changelist")`)."""
    url = f"admin:{row._meta.app_label}_{row._meta.model_name}_{name}"
    return reverse(url, args=[row.pk] if isinstance(row, Model) else [])


def read(admin_client: Client, row: Model | type[Model], name: str = "change", **query: str) -> str:
    """The text of a page that opens."""
    answer = admin_client.get(page(row, name), query)
    assert answer.status_code == 200
    return answer.content.decode()


def rows_of(text: str) -> list[list[str]]:
    """The texts of the cells of every table row on a page."""
    rows = re.findall(r"<tr[^>]*>(.*?)</tr>", text, re.DOTALL)
    cells = (re.findall(r"<td[^>]*>(.*?)</td>", row, re.DOTALL) for row in rows)
    return [[" ".join(strip_tags(cell).split()) for cell in row] for row in cells if row]


def decide(admin_client: Client, row: Model, decision: str, **sent: Any) -> str:
    """Send the form that asks; the text of the page it leads to."""
    answer = admin_client.post(page(row, decision), sent, follow=True)
    assert answer.status_code == 200
    return answer.content.decode()


def decide_on_many(admin_client: Client, rows: list[Any], action: str, **sent: Any) -> str:
    """Choose rows of a list, then confirm; the text of the page it leads to."""
    url = page(type(rows[0]), "changelist")
    chosen = {"action": action, "_selected_action": [str(row.pk) for row in rows]}
    asked = admin_client.post(url, chosen)
    assert asked.status_code == 200
    assert 'name="confirmed"' in asked.content.decode()
    answer = admin_client.post(url, chosen | {"confirmed": "1"} | sent, follow=True)
    assert answer.status_code == 200
    return answer.content.decode()
