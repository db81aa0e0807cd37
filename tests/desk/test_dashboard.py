"""The overview: its numbers, its health, and what it costs."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from django.contrib.contenttypes.models import ContentType
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from agents.services import reject_request
from config.version import VERSION
from desk import health as health_checks
from desk.dashboard import first_steps
from desk.models import DailyCount, DailyTotal, Of, RollUp, Top, Total, Trouble
from kernel.admin.audit import forget_names_about, log_decision
from kernel.probes import readiness as probes
from kernel.probes.readiness import readiness
from messaging.models import Account, Message
from messaging.moderation.services import hide_message
from tests.admin.pages import read
from tests.agents.factories import RequestFactory, agent_with_token
from tests.days import today
from tests.desk.making import roll_up, write
from tests.desk.world import add_numbers
from tests.embeds.making import an_embed
from tests.factories import CommunityFactory, MessageFactory, PersonFactory, SuperAdminFactory

pytestmark = pytest.mark.django_db
# They include those of the session and the account, and of the queues.
QUERIES_MAX = 24
MANY_NUMBERS = """
WITH totals AS (
    INSERT INTO desk_dailytotal (kind, day, name, count)
    SELECT 'refusals', %(today)s - n %% 800, 'code_' || n / 800, 1 FROM generate_series(1, 20000) n
)
INSERT INTO desk_dailycount (subject_id, kind, day, count)
SELECT gen_random_uuid(), 'person', %(today)s - n %% 90, 1 FROM generate_series(1, 20000) n
"""
QUERIES_OF_NUMBERS = (
    "desk_dailytotal WHERE kind IN ('people', 'agents', 'reports') AND day <= %(today)s",
    "desk_dailycount WHERE subject_id = ANY('{00000000-0000-0000-0000-000000000001}'::uuid[])",
)
TABLES_OF_POSTS = ("messaging_searchentry", "changes_change", "reactions_reaction", "embeds_dailycount")


@pytest.fixture
def overview(admin_client: Client) -> Any:
    """The text of the page, without the spaces of `timesince` that do not break."""

    def get() -> str:
        return admin_client.get("/admin/").content.decode().replace("\xa0", " ")

    return get


@pytest.mark.django_db(transaction=True)
def test_the_numbers_are_those_of_the_roll_up(overview: Any) -> None:
    community, holder = CommunityFactory(name="Harbour"), agent_with_token(agent_handle="counter_of_boats")
    for _ in range(3):
        write(by=holder.api, communityId=str(community.pk))
    assert "Not counted yet" in overview()
    roll_up()
    text = overview()
    assert "Posts by day, at most 3" in text
    assert '<span class="key series-2">agents <b>3</b></span>' in text
    assert "@counter_of_boats" in text
    assert "Harbour" in text
    assert "Counted" in text


def test_the_overview_says_what_the_team_decided(overview: Any) -> None:
    pending = RequestFactory(agent_handle="loud_one")
    reject_request(request_id=pending.pk, by=SuperAdminFactory(handle="careful"), reason="Too <b>loud</b>.")
    text = " ".join(overview().split())
    assert re.search("<b>@careful</b> rejected: <a href=[^>]+>agent request @loud_one for", text)
    assert "<q>Too &lt;b&gt;loud&lt;/b&gt;.</q>" in text


def test_the_link_to_a_post_whose_text_is_forgotten_has_a_text(overview: Any) -> None:
    post = MessageFactory()
    hide_message(message_id=post.pk, by=SuperAdminFactory())
    forget_names_about(Message, [post.pk])
    # A row without a page has no link.
    log_decision(by=SuperAdminFactory(), about=ContentType.objects.first(), verb="Looked at")
    text = overview()
    assert re.search(rf"hidden: <a href=\"[^\"]*{post.pk}[^\"]*\">message </a>", text)
    assert "looked at" in text


def test_an_empty_plot_says_none_only_after_a_count(overview: Any, admin_client: Client) -> None:
    """A start counts at once, but only if that has never been done."""
    holder = agent_with_token()
    for is_counted in (False, True):
        text, of_agent = overview(), read(admin_client, holder.agent)
        # Eight plots and two lists; of an agent's three plots, that of refused calls reads the rows themselves.
        for page, uncounted, none in ((text, 10, 0), (of_agent, 2, 1)):
            found = (page.count("Not counted yet."), len(re.findall(r"None in (?:the last )?30 days", page)))
            assert found[0] == (0 if is_counted else uncounted)
            assert (found[1] > none) is is_counted
        assert (" <b>0</b></span>" in text) is is_counted
        call_command("roll_up_desk", "--first", "--interval=60")
    row = RollUp.objects.get()
    call_command("roll_up_desk", "--first")
    assert RollUp.objects.get().finished_at == row.finished_at
    assert (row.interval_minutes, 'unknown"><b>Housekeeping' in overview()) == (60, False)


def test_housekeeping_that_is_late_is_shown_with_its_last_run(overview: Any) -> None:
    assert '<li class="unknown"><b>Housekeeping</b>\n<span>has not run yet' in overview()
    RollUp.objects.create(finished_at=timezone.now() - timedelta(hours=1), interval_minutes=60)
    assert "late, last run" not in overview()
    RollUp.objects.update(finished_at=timezone.now() - timedelta(hours=5))
    text = overview()
    assert "late, last run" in text
    assert "5 hours" in text


def test_all_hosts_agree_whether_housekeeping_is_late(settings: Any) -> None:
    """The interval of what ran it decides. Else their mails would say in turns that it runs and does not run."""
    for options, hours in (([], 24), (["--interval=60"], 2), (["--interval=600"], 20)):
        call_command("roll_up_desk", *options)
        for late, passed in ((False, hours), (True, hours + 2)):
            RollUp.objects.update(finished_at=timezone.now() - timedelta(hours=passed))
            for settings.HOUSEKEEPING_MINUTES in (5, 60, 0):
                (housekeeping,) = (check for check in health_checks.checks() if check.name == "housekeeping")
                assert bool(housekeeping.trouble) is late


def test_the_health_names_what_is_away_and_the_release(
    overview: Any, settings: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def line(label: str) -> str:
        # The state of the host is used for a second.
        readiness.cache_clear()
        (found,) = re.findall(rf'<li class="(\w+)"><b>{label}</b>\s*<span>([^<]*)</span>', overview())
        return ": ".join(found)

    assert line("PostgreSQL") == "good: answers"
    assert line("Migrations") == "good: applied"
    assert f"Release {VERSION}" in overview()
    assert line("Disk").startswith("good: ")
    monkeypatch.setattr(health_checks, "FREE_BYTES", 2**60)
    assert line("Disk").startswith("bad: ")
    assert re.search(
        r"<details open>\s*<summary><h2 id=\"health\">Health</h2> <b class=\"bad\">\d+ of \d+ needs? attention",
        overview(),
    )
    settings.REDIS_URL = ""
    assert line("Redis") == "unknown: not used"
    settings.REDIS_URL = f"unix://{tmp_path}/nothing-here.sock"
    settings.CACHES = {"default": {"BACKEND": "django_redis.cache.RedisCache", "LOCATION": settings.REDIS_URL}}
    assert line("Redis") == "bad: away"
    # A standby: this host may read the page, but nobody can write.
    monkeypatch.setattr(probes, "fetch_all", lambda _statement: [("desk", "0001_initial", True)])
    assert line("PostgreSQL") == "bad: away"
    readiness.cache_clear()


def test_a_trouble_is_shown_with_its_time(overview: Any) -> None:
    (found,) = [check for check in health_checks.checks() if check.label == "Stream process"]
    assert found.trouble, "no stream process runs beside the tests"
    Trouble.objects.create(name=found.name, text=found.trouble, since=timezone.now() - timedelta(minutes=44))
    assert "44 minutes" in overview()


def test_every_plot_has_a_table_and_no_inline_style(overview: Any) -> None:
    DailyTotal.objects.create(kind=Total.REPORTS.value, day=today(), name="", count=4)
    text = overview()
    assert text.count("<details><summary>As a table") == text.count('<svg role="img"') == 1
    assert 'style="' not in text
    assert "<script>" not in text


def test_each_number_has_its_plot_and_each_top_its_line(overview: Any) -> None:
    holder, community = agent_with_token(), CommunityFactory()
    add_numbers(holder.account, community)
    text = overview()
    # From 40 today down to 21.
    for title, most in (
        *(("Posts", "80"), ("New agents", "40"), ("Agent requests", "40"), ("Pending agent requests", "40")),
        *(("Median time to a decision", "40 s"), ("Reports", "40"), ("Views of embeds", "40")),
    ):
        assert f'aria-label="{title} by day, at most {most}"' in text, title
    assert '<span class="key total">610 in all</span>' in text
    # The sum of levels means nothing: two of the plots with one series have none.
    assert text.count(" in all</span>") == 4
    assert "Median time to a decision: <b>2 h</b>" in text
    lines = re.findall(r'<svg class="spark"[^>]*><polyline points="([^"]+)"/>', text)
    assert len(lines) == 2
    for points in lines:
        heights = [float(point.split(",")[1]) for point in points.split()]
        assert (heights[0], heights[-1], len(heights)) == (22.0, 2.0, 30)


def test_the_codes_beyond_the_most_frequent_are_one_series(overview: Any) -> None:
    for number in range(7):
        DailyTotal.objects.create(kind=Total.REFUSALS.value, day=today(), name=f"code_{number}", count=10 - number)
    text = overview()
    assert "code_3" in text
    assert "code_4" not in text
    assert '<span class="key series-5">others <b>15</b></span>' in text


def test_the_overview_runs_a_fixed_number_of_queries_and_reads_no_posts(admin_client: Client) -> None:
    _add_tops(1)
    admin_client.get("/admin/")
    few = _statements(admin_client)
    _add_tops(10)
    many = _statements(admin_client)
    assert len(few) == len(many) <= QUERIES_MAX
    for statement in many:
        assert not any(table in statement for table in TABLES_OF_POSTS), statement
        # The queues count pending and reported posts, each by the index of such posts.
        assert "messaging_message" not in statement or "pending" in statement or "closed_at" in statement, statement


def _add_tops(count: int) -> None:
    Top.objects.all().delete()
    for number in range(count):
        holder, community = agent_with_token(), CommunityFactory()
        for kind, row, of in (("agents", holder.account, Of.AGENT), ("communities", community, Of.COMMUNITY_PEOPLE)):
            Top.objects.create(kind=kind, place=number + 1, subject_id=row.pk, count=1)
            DailyCount.objects.create(subject_id=row.pk, kind=of.value, day=today(), count=1)


def test_the_plan_of_the_totals_uses_the_index() -> None:
    values = {"since": today() - timedelta(days=30), "today": today()}
    with connection.cursor() as cursor:
        cursor.execute(MANY_NUMBERS, values)
        cursor.execute("ANALYZE desk_dailytotal, desk_dailycount")
        for query in QUERIES_OF_NUMBERS:
            cursor.execute(f"EXPLAIN SELECT * FROM {query} AND day > %(since)s", values)
            assert "Seq Scan" not in str(cursor.fetchall()), query


@pytest.mark.django_db(transaction=True)
def test_the_pages_of_rows_show_their_own_course(admin_client: Client) -> None:
    holder, community, person, embed = agent_with_token(), CommunityFactory(), PersonFactory(), an_embed()
    rows = (holder.agent, holder.account, community, person, embed)
    for kind, row in (
        (Of.AGENT, holder.account),
        (Of.COMMUNITY_PEOPLE, community),
        (Of.PERSON, person),
        (Of.EMBED, embed),
    ):
        DailyCount.objects.create(subject_id=row.pk, kind=kind.value, day=today(), count=17)
    for row in rows:
        assert "by day, at most 17" in read(admin_client, row), row


def _statements(client: Client) -> list[str]:
    # The state of the host is used for a second; each measurement includes its check.
    readiness.cache_clear()
    with CaptureQueriesContext(connection) as queries:
        assert client.get("/admin/").status_code == 200
    return [query["sql"] for query in queries]


def test_the_first_steps_are_listed_until_all_are_done(overview: Any, settings: Any, boss: Account) -> None:
    assert "First steps" not in overview(), "a demo needs none"
    settings.DEMO = False
    text = overview()
    assert text.count("○") == 6
    assert "community-messaging doctor" in text
    an_embed()
    CommunityFactory()
    settings.HTTPS = settings.MAIL_IS_SENT = True
    settings.IMPRINT_URL = settings.TERMS_URL = "https://example.com/"
    Authenticator.objects.create(user=PersonFactory(), type=Authenticator.Type.TOTP, data={})
    assert overview().count("○") == 2, "the factor is that of another person, and one link is missing"
    settings.PRIVACY_URL = "https://example.com/"
    Authenticator.objects.create(user=boss, type=Authenticator.Type.TOTP, data={})
    assert first_steps() == []
