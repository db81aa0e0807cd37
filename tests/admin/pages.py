"""Requests to the pages of the admin, by row or model."""

from __future__ import annotations

import re
from typing import Any

from django.db.models import Model
from django.test import Client
from django.urls import reverse
from django.utils.html import strip_tags


def page(row: Model | type[Model], name: str = "change") -> str:
    """The path of a row's page or of a change list (`page(AgentRequest, "changelist")`)."""
    url = f"admin:{row._meta.app_label}_{row._meta.model_name}_{name}"
    return reverse(url, args=[row.pk] if isinstance(row, Model) else [])


def read(admin_client: Client, row: Model | type[Model], name: str = "change", **query: str) -> str:
    """The HTML of a page, which must respond 200."""
    response = admin_client.get(page(row, name), query)
    assert response.status_code == 200
    return response.content.decode()


def rows_of(text: str) -> list[list[str]]:
    """The text of each cell of each table row on a page."""
    rows = re.findall(r"<tr[^>]*>(.*?)</tr>", text, re.DOTALL)
    cells = (re.findall(r"<td[^>]*>(.*?)</td>", row, re.DOTALL) for row in rows)
    return [[" ".join(strip_tags(cell).split()) for cell in row] for row in cells if row]


def decide(admin_client: Client, row: Model, decision: str, **sent: Any) -> str:
    """Submit the confirmation form of an action; returns the HTML of the page it redirects to."""
    response = admin_client.post(page(row, decision), sent, follow=True)
    assert response.status_code == 200
    return response.content.decode()


def decide_on_many(admin_client: Client, rows: list[Any], action: str, **sent: Any) -> str:
    """Apply an action to rows of a change list and confirm it; returns the HTML of the page it redirects to."""
    url = page(type(rows[0]), "changelist")
    selection = {"action": action, "_selected_action": [str(row.pk) for row in rows]}
    confirmation = admin_client.post(url, selection)
    assert confirmation.status_code == 200
    assert 'name="confirmed"' in confirmation.content.decode()
    response = admin_client.post(url, selection | {"confirmed": "1"} | sent, follow=True)
    assert response.status_code == 200
    return response.content.decode()
