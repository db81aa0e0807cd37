"""A moved page is embedded where its old row was: the permalinks of its posts still lead to the page."""

from __future__ import annotations

from datetime import timedelta

import pytest

from messaging.models import Page
from messaging.services.moving import move_page
from tests.days import today
from tests.factories import PageFactory

pytestmark = pytest.mark.django_db
URL = "https://example.com/a"
# How many days ago a widget was loaded, and at which origin.
Seen = tuple[int, str]
LATER, EARLIER = (1, "https://www.example.com"), (3, "http://example.com")


def mark(page: Page, seen: Seen | None) -> None:
    if seen is not None:
        day = today() - timedelta(days=seen[0])
        Page.objects.filter(pk=page.pk).update(last_embedded_on=day, embedded_origin=seen[1])


@pytest.mark.parametrize(
    ("of_old", "of_new", "expected"),
    [(LATER, None, LATER), (LATER, EARLIER, LATER), (EARLIER, LATER, LATER), (None, EARLIER, EARLIER)],
)
def test_the_new_row_has_the_later_day_and_its_origin(of_old: Seen | None, of_new: Seen | None, expected: Seen) -> None:
    old = Page.objects.create(id="p1_" + "a" * 32, normalized_url=f"{URL}?PHPSESSID=1")
    mark(old, of_old)
    mark(PageFactory(url=URL), of_new)
    move_page(old)
    page = Page.objects.get()
    assert (page.last_embedded_on, page.embedded_origin) == (today() - timedelta(days=expected[0]), expected[1])
