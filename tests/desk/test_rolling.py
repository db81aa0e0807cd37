"""The roll-ups of the desk: every post and report counts once, however often and whenever they run."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection, connections, transaction

from agents.models import AgentRequest, RefusedCall
from agents.services import reject_request
from desk import rolling
from desk.dashboard import courses_of
from desk.models import DailyCount, DailyTotal, Of, RollUp, Top, Total
from desk.personal_data import erase
from desk.rolling import COUNT_DAYS, recount_days
from embeds.models import DailyCount as EmbedCount
from embeds.services import delete_embed
from kernel.database.sql import database_now, execute
from kernel.personal_data import Subject
from tests.agents.factories import RequestFactory, agent_with_token
from tests.api import Api
from tests.days import today
from tests.desk.making import count_of, roll_up, total, write
from tests.embeds.making import an_embed
from tests.factories import CommunityFactory, PersonFactory, SuperAdminFactory

pytestmark = pytest.mark.django_db(transaction=True)


def test_posts_and_reports_count_for_their_author_community_and_the_service() -> None:
    person, community, holder = PersonFactory(), CommunityFactory(), agent_with_token()
    # They get events of the same name in their inboxes.
    for _ in range(3):
        community.moderators.create(account=PersonFactory())
    post = write(by=person, communityId=str(community.pk))
    write(by=person)
    write(by=holder.api, communityId=str(community.pk))
    assert Api.as_person(PersonFactory()).post(f"/api/messages/{post}/report", {"reason": "spam"}).status == 200
    roll_up()
    assert (total(Total.PEOPLE), total(Total.AGENTS), total(Total.REPORTS)) == (2, 1, 1)
    assert (count_of(person, Of.PERSON), count_of(holder.account, Of.AGENT), count_of(person, Of.REPORTED)) == (2, 1, 1)
    kinds = (Of.COMMUNITY_PEOPLE, Of.COMMUNITY_AGENTS, Of.COMMUNITY_REPORTS)
    assert [count_of(community, kind) for kind in kinds] == [1, 1, 1]


def test_a_repeated_roll_up_changes_nothing_and_a_later_one_adds() -> None:
    person = PersonFactory()
    write(by=person)
    roll_up()
    roll_up()
    assert total(Total.PEOPLE) == 1
    write(by=person)
    roll_up()
    assert (total(Total.PEOPLE), count_of(person, Of.PERSON)) == (2, 2)


def test_concurrent_roll_ups_count_each_post_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rolling, "BATCH", 3)
    person = PersonFactory()
    for _ in range(10):
        write(by=person)

    def run() -> None:
        roll_up()
        connections.close_all()

    with ThreadPoolExecutor(4) as pool:
        for future in [pool.submit(run) for _ in range(4)]:
            future.result()
    assert (total(Total.PEOPLE), count_of(person, Of.PERSON)) == (10, 10)


def test_a_roll_up_that_fails_counts_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    write()

    def broken(_totals: Any) -> None:
        raise RuntimeError

    monkeypatch.setattr(rolling, "add_totals", broken)
    with pytest.raises(RuntimeError):
        roll_up()
    assert not DailyCount.objects.exists()
    monkeypatch.undo()
    roll_up()
    assert total(Total.PEOPLE) == 1


def test_a_post_that_commits_late_is_counted_when_it_has_committed() -> None:
    """It has the older transaction id, so the roll-up must stop before the newer one."""
    person = PersonFactory()

    def write_another() -> None:
        write(by=person)
        roll_up()
        connections.close_all()

    with transaction.atomic():
        execute("SELECT pg_current_xact_id()")
        with ThreadPoolExecutor(1) as pool:
            pool.submit(write_another).result()
        assert total(Total.PEOPLE) == 0
    roll_up()
    assert total(Total.PEOPLE) == 1


def test_rows_that_were_pruned_before_they_were_counted_stop_nothing() -> None:
    write()
    roll_up()
    write()
    write()
    second = "SELECT xid, id FROM changes_change WHERE type = 'message.created' ORDER BY xid, id OFFSET 1 LIMIT 1"
    with connection.cursor() as cursor:
        cursor.execute(f"UPDATE changes_changelog SET (pruned_xid, pruned_id) = ({second})")
        cursor.execute(f"DELETE FROM changes_change WHERE (xid, id) <= ({second})")
    roll_up()
    assert total(Total.PEOPLE) == 2


def test_a_lost_position_counts_nothing_twice() -> None:
    """After a restore the log may end before the cursor."""
    write()
    roll_up()
    RollUp.objects.update(xid=2**60)
    roll_up()
    write()
    roll_up()
    assert total(Total.PEOPLE) == 2


def test_requests_decisions_and_their_median_time() -> None:
    admin = SuperAdminFactory()
    for minutes in (10, 20, 90):
        pending = RequestFactory()
        created = database_now() - timedelta(minutes=minutes)
        AgentRequest.objects.filter(pk=pending.pk).update(created_at=created)
        reject_request(request_id=pending.pk, by=admin)
    RequestFactory()
    roll_up()
    roll_up()
    assert (total(Total.DECISIONS, "rejected"), total(Total.DECISIONS, "approved")) == (3, 0)
    assert total(Total.MEDIAN_SECONDS) == pytest.approx(20 * 60, abs=30)


def test_a_decision_that_is_taken_back_is_no_longer_counted_and_an_old_median_is_removed() -> None:
    pending = RequestFactory()
    reject_request(request_id=pending.pk, by=SuperAdminFactory())
    roll_up()
    median = {"kind": Total.MEDIAN_SECONDS.value}
    assert DailyTotal.objects.filter(**median).exists()
    DailyTotal.objects.create(**median, day=today() - timedelta(days=5), name="", count=60)
    AgentRequest.objects.filter(pk=pending.pk).update(status="pending", decided_at=None, decided_by=None)
    roll_up()
    assert total(Total.DECISIONS, "rejected") == 0
    assert not DailyTotal.objects.filter(**median).exists()


def test_pending_requests_are_counted_at_the_end_of_each_day() -> None:
    admin, days = SuperAdminFactory(), [today() - timedelta(days=number) for number in range(4)]
    decided, _waiting = RequestFactory(), RequestFactory()
    reject_request(request_id=decided.pk, by=admin)
    asked = database_now() - timedelta(days=2)
    AgentRequest.objects.update(created_at=asked)
    AgentRequest.objects.filter(pk=decided.pk).update(decided_at=asked + timedelta(days=1))
    roll_up()
    assert [total(Total.PENDING, day=day) for day in days] == [1, 1, 2, 0]
    roll_up()
    assert total(Total.PENDING) == 1


def test_refusals_by_code_and_views_of_the_days_since_the_last_run() -> None:
    holder, yesterday = agent_with_token(), today() - timedelta(days=1)
    for day, calls in ((today(), 2), (yesterday, 3)):
        for code in ("missing_scope:post", "missing_scope:react"):
            RefusedCall.objects.create(agent=holder.agent, day=day, operation="createMessage", code=code, calls=calls)
    in_page = an_embed(trigger_config={"mode": "inline"})
    for embed, event, count in (
        *((an_embed(), "trigger_view", 4), (an_embed(), "embed_load", 100)),
        *((in_page, "embed_load", 3), (in_page, "panel_open", 100)),
    ):
        EmbedCount.objects.create(embed_id=embed.pk, day=today(), path="/a", event=event, count=count)
    roll_up()
    assert (total(Total.REFUSALS, "missing_scope"), total(Total.REFUSALS, "missing_scope", day=yesterday)) == (4, 6)
    assert total(Total.VIEWS) == 7


def test_the_deletion_of_a_site_does_not_lower_the_views_of_a_day() -> None:
    popular, other = an_embed(), an_embed()
    for embed, count in ((popular, 7), (other, 2)):
        EmbedCount.objects.create(embed_id=embed.pk, day=today(), path="/a", event="trigger_view", count=count)
    roll_up()
    delete_embed(embed_id=popular.pk, owner=popular.owner)
    call_command("prune", verbosity=0)
    roll_up()
    assert (EmbedCount.objects.get().embed_id, total(Total.VIEWS)) == (other.pk, 9)
    EmbedCount.objects.update(count=12)
    roll_up()
    assert total(Total.VIEWS) == 12


def test_a_pause_of_weeks_is_caught_up() -> None:
    roll_up()
    long_ago = today() - timedelta(days=20)
    RollUp.objects.update(last_day=today() - timedelta(days=25))
    EmbedCount.objects.create(embed_id=an_embed().pk, day=long_ago, path="/a", event="trigger_view", count=5)
    roll_up()
    assert total(Total.VIEWS, day=long_ago) == 5


def test_the_tops_are_those_of_the_last_30_days() -> None:
    first, second, old = (agent_with_token() for _ in range(3))
    for holder, count, days in ((first, 3, 0), (second, 5, 29), (old, 9, 30)):
        day = today() - timedelta(days=days)
        DailyCount.objects.create(subject_id=holder.account.pk, kind=Of.AGENT.value, day=day, count=count)
    roll_up()
    found = list(Top.objects.filter(kind="agents").order_by("place").values_list("subject_id", "count"))
    assert found == [(second.account.pk, 5), (first.account.pk, 3)]


def test_old_numbers_are_pruned() -> None:
    person = PersonFactory()
    # Five minutes after midnight are still the day before, as pruning has a margin for the clocks.
    for days in (COUNT_DAYS + 2, 1):
        day = today() - timedelta(days=days)
        DailyCount.objects.create(subject_id=person.pk, kind=Of.PERSON.value, day=day, count=1)
    call_command("prune", "--dry-run", verbosity=0)
    assert DailyCount.objects.count() == 2
    call_command("prune", verbosity=0)
    assert DailyCount.objects.count() == 1


def test_the_counts_of_an_erased_account_are_deleted() -> None:
    erased, other = PersonFactory(), PersonFactory()
    for place, person in enumerate((erased, other), 1):
        DailyCount.objects.create(subject_id=person.pk, kind=Of.PERSON.value, day=today(), count=1)
        Top.objects.create(kind="agents", place=place, subject_id=person.pk, count=1)
    subject = Subject(account_ids=(erased.pk,), handles=(), heirs={}, delete_posts=False)
    assert (erase(subject), erase(subject)) == (2, 0)
    assert DailyCount.objects.get().subject_id == Top.objects.get().subject_id == other.pk


def test_the_day_is_that_of_the_database() -> None:
    recount_days(at=_prepared())
    assert RollUp.objects.get().last_day == today()
    assert courses_of([], today=today()) == {}
    assert not DailyTotal.objects.exists()


def _prepared() -> Any:
    rolling.roll_up_row()
    return database_now()
