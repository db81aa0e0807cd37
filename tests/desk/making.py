"""Helpers of the tests of the desk."""

from __future__ import annotations

from datetime import date

from django.core.management import call_command

from desk.models import DailyCount, DailyTotal, Of, Total
from messaging.models import Account
from tests.api import Api
from tests.days import today
from tests.factories import PageFactory, PersonFactory


def roll_up() -> None:
    call_command("roll_up_desk", verbosity=0)


def total(kind: Total, name: str = "", *, day: date | None = None) -> int:
    row = DailyTotal.objects.filter(kind=kind.value, name=name, day=day or today()).first()
    return row.count if row else 0


def count_of(row: object, kind: Of) -> int:
    found = DailyCount.objects.filter(subject_id=row.pk, kind=kind.value, day=today()).first()  # type: ignore[attr-defined]
    return found.count if found else 0


def write(*, by: Account | Api | None = None, **fields: object) -> str:
    """A post by the API; returns its id."""
    api = by if isinstance(by, Api) else Api.as_person(by or PersonFactory())
    body = {"content": "A post."} | fields
    if "pageId" not in body:
        body["pageId"] = PageFactory().pk
    response = api.post("/api/messages", body)
    assert response.status == 201, response.json
    return str(response.json["id"])
