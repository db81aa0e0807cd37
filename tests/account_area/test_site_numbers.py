"""The numbers of a site: figures, funnel, plots, pages and tables."""

from __future__ import annotations

import csv
import io
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client

from account_area.sites.numbers import Numbers
from embeds.analytics.recent import posts_by_day
from embeds.models import DailyCount, Embed
from messaging.models import Account
from tests.days import today
from tests.embeds.making import an_embed, send

pytestmark = pytest.mark.django_db
SITES = "/account/sites/"


@pytest.fixture
def site(person: Account) -> Embed:
    return an_embed(person)


def count(site: Embed, event: str, number: int, *, days_ago: int = 0, path: str = "/") -> None:
    day = today() - timedelta(days=days_ago)
    DailyCount.objects.create(embed_id=site.pk, day=day, path=path, event=event, count=number)


def test_figures_compare_with_the_period_before(site: Embed) -> None:
    count(site, "trigger_view", 30, days_ago=6)
    count(site, "trigger_view", 20, days_ago=7)
    count(site, "panel_open", 5, days_ago=13)
    count(site, "post_created", 1)
    count(site, "reply_created", 2)
    count(site, "trigger_view", 1_000, days_ago=14)
    views, opens, posts, _visitors = Numbers(site, days=7, today=today()).figures
    assert (views.now, views.before, views.change) == (30, 20, 50)
    assert (opens.now, opens.before, opens.change) == (0, 5, -100)
    assert (posts.now, posts.before, posts.change) == (3, 0, None)


def test_the_funnel_has_the_share_of_the_step_before(site: Embed) -> None:
    count(site, "trigger_view", 200)
    count(site, "panel_open", 50)
    steps = Numbers(site, days=7, today=today()).funnel
    assert [(step.count, step.share, step.width) for step in steps] == [(200, None, 100), (50, 25, 25), (0, 0, 0)]


def test_a_step_that_exceeds_the_step_before_has_no_share(site: Embed) -> None:
    count(site, "panel_open", 5)
    assert [step.share for step in Numbers(site, days=7, today=today()).funnel] == [None, None, 0]


def test_raw_and_counted_events_are_added(site: Embed) -> None:
    count(site, "post_created", 2)
    send(site, "reply_created", datetime.now(UTC))
    send(site, "trigger_view", datetime.now(UTC))
    assert posts_by_day(embed_ids=[site.pk, an_embed().pk], first=today(), last=today()) == {site.pk: {today(): 3}}
    assert posts_by_day(embed_ids=[], first=today(), last=today()) == {}


@pytest.mark.parametrize(("days", "shown"), [("7", 7), ("90", 90), ("30", 30), ("", 30), ("8", 30), ("x", 30)])
def test_the_page_has_a_plot_with_a_table_for_each_step(client: Client, site: Embed, days: str, shown: int) -> None:
    count(site, "trigger_view", 3)
    page = client.get(f"{SITES}{site.pk}/", {"days": days}).content.decode()
    assert page.count('<figure class="plot">') == 3
    assert page.count("<rect x=") == 3 * shown


def test_a_site_without_visits_says_so(client: Client, site: Embed) -> None:
    page = client.get(f"{SITES}{site.pk}/").content.decode()
    assert "No visits in this period" in page
    assert "not seen your widget" in page


def test_top_pages_are_the_busiest_and_paths_are_text(client: Client, site: Embed) -> None:
    count(site, "trigger_view", 5, path="/<script>")
    for number in range(30):
        count(site, "trigger_view", 10 + number, path=f"/page-{number}")
    page = client.get(f"{SITES}{site.pk}/").content.decode()
    assert page.index("/page-29") < page.index("/page-28")
    assert "/page-9<" not in page
    assert "<script>" not in page


def rows(response: Any) -> list[list[str]]:
    assert response["Content-Type"] == "text/csv; charset=utf-8"
    return list(csv.reader(io.StringIO(response.content.decode())))


def test_tables_have_the_days_or_the_pages(client: Client, site: Embed) -> None:
    count(site, "trigger_view", 5, path="/blog")
    days = rows(client.get(f"{SITES}{site.pk}/numbers.csv?days=7"))
    assert len(days) == 8
    assert days[-1][0] == today().isoformat()
    assert days[-1][days[0].index("trigger_view")] == "5"
    response = client.get(f"{SITES}{site.pk}/numbers.csv?by=pages")
    assert "attachment" in response["Content-Disposition"]
    assert rows(response)[1][:3] == ["/blog", "0", "5"]


def test_no_cell_of_a_table_is_a_formula(client: Client, site: Embed) -> None:
    count(site, "trigger_view", 5, path="＝1")
    assert rows(client.get(f"{SITES}{site.pk}/numbers.csv?by=pages"))[1][0] == "'＝1"
