"""The queue of a community costs what waits in it, not what waits in the whole service."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from importlib import import_module
from itertools import product
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from django.db.models.functions import Now
from django.test.utils import CaptureQueriesContext
from pytest_django.plugin import DjangoDbBlocker

from account_area.moderation import queries as counts
from account_area.moderation.queries import Waiting, numbers_of, waiting_for, waiting_in, waiting_of
from kernel.api.pagination import CursorPage
from messaging.models import Community, Message, Moderator, Report
from messaging.models.moderation import QueueState
from messaging.moderation import queries as moderation
from tests.factories import CommunityFactory, MessageFactory, PersonFactory, SuperAdminFactory
from tests.module_rows import undone_after_module
from tests.plans import generic_plan, plan_of, rows_read

pytestmark = pytest.mark.django_db
FILL = import_module("messaging.migrations.0039_reports_of_community")
TABLES = ("messaging_message", "messaging_report")
ELSEWHERE, HERE = 5_000, 3
# Older than the posts of the community, so that a list in the order of time comes to them first.
POSTS = """
INSERT INTO messaging_message
    (id, page_id, author_id, author_kind, community_id, status, content, attachments, reply_count, quote_count,
     reaction_counts, reaction_total, created_at, updated_at)
SELECT uuidv7(-n * interval '1 hour'), %(page)s, %(author)s, 'human', %(community)s, %(status)s, %(content)s, '[]', 0,
    0, '{}', 0, now() - n * interval '1 hour', now()
FROM generate_series(1, %(count)s) n
"""
REPORTS = """
INSERT INTO messaging_report (message_id, reporter_id, reason, note, created_at)
SELECT id, author_id, 'spam', '', now() FROM messaging_message WHERE content = 'Reported'
"""
WAITING = [("pending", "Pending"), ("published", "Reported")]
EARLY = (datetime(2000, 1, 1, tzinfo=UTC), UUID(int=0))


@pytest.fixture(scope="module")
def community(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Community]:
    with undone_after_module(django_db_blocker):
        yield load()


def load() -> Community:
    """With three pending posts and three reported ones among many, beside communities where thousands wait."""
    post, community = MessageFactory(status="hidden"), CommunityFactory()
    others = [(other, ELSEWHERE // 5) for other in CommunityFactory.create_batch(5)]
    posts = [
        *(
            (place, status, content, count)
            for place, count in [*others, (community, HERE)]
            for status, content in WAITING
        ),
        (community, "published", "Fine", ELSEWHERE),
    ]
    with connection.cursor() as cursor:
        for place, status, content, count in posts:
            values = {"page": post.page_id, "author": post.author_id, "community": place.pk}
            cursor.execute(POSTS, values | {"status": status, "content": content, "count": count})
        cursor.execute(REPORTS)
        cursor.execute("ANALYZE messaging_message, messaging_report")
    return community


def test_the_queue_of_a_community_reads_what_waits_there(community: Community, monkeypatch: pytest.MonkeyPatch) -> None:
    plans, boss = [], SuperAdminFactory()
    fetch = moderation.fetch

    def fetch_and_explain(statement: str, values: Any, **options: Any) -> Any:
        plans.append(generic_plan(statement, values))
        return fetch(statement, values, **options)

    monkeypatch.setattr(moderation, "fetch", fetch_and_explain)
    for after, state in product((None, EARLY), QueueState):
        plans.clear()
        page = CursorPage(bound_to="queue", after=after)
        queue = moderation.moderation_queue(moderator=boss, community_id=community.pk, state=state, page=page)
        assert len(queue["messages"]) == HERE
        assert [rows_read(plan, *TABLES) <= 20 for plan in plans] == [True], plans


def test_the_numbers_of_a_community_read_what_waits_there(community: Community) -> None:
    moderator = PersonFactory()
    Moderator.objects.create(community=community, account=moderator)
    other = Report.objects.exclude(community_id=community.pk).values_list("community_id", flat=True)[0]
    waiting = Waiting(pending=HERE, reported=HERE)
    with CaptureQueriesContext(connection) as captured:
        assert waiting_in([community.pk]) == {community.pk: waiting}
        assert waiting_for(moderator, [community.pk, other]) == {community.pk: waiting}
        assert waiting_of(moderator, limit=5) == {community: waiting}
    assert len(captured) == 4
    for sql in captured:
        plan = plan_of(sql["sql"])
        assert rows_read(plan, *TABLES) <= 20, plan


def test_more_posts_than_the_most_that_are_counted_are_not_read(
    community: Community,
) -> None:
    assert counts.MOST == 100
    full = Report.objects.exclude(community_id=community.pk).values_list("community_id", flat=True)[0]
    hide_some(full)
    with CaptureQueriesContext(connection) as captured:
        assert waiting_in([full]) == {full: Waiting(100, 100)}
        numbers = numbers_of(Community(pk=full))
    assert numbers == {"pending": 100, "reported": 100, "recent": 100, "hidden": 100}
    generic = counts.OF_STATES.replace("%s", "%(community)s")
    for plan in [*(plan_of(sql["sql"]) for sql in captured), generic_plan(generic, {"community": full})]:
        assert rows_read(plan, *TABLES) <= 800, plan


def test_the_list_of_hidden_posts_reads_what_it_shows(community: Community) -> None:
    full = Report.objects.exclude(community_id=community.pk).values_list("community_id", flat=True)[0]
    hide_some(full)
    page = CursorPage(bound_to="hidden", after=(datetime.now(UTC), UUID(int=0)))
    with CaptureQueriesContext(connection) as captured:
        assert len(moderation.hidden_posts(community_id=full, page=page)["messages"]) == page.limit
    generic = moderation.HIDDEN.format(after="")
    values = {"community": full, "limit": page.limit + 1}
    for plan in (plan_of(captured[0]["sql"]), generic_plan(generic, values)):
        assert rows_read(plan, *TABLES) <= page.limit + 1, plan


def hide_some(community_id: UUID) -> None:
    """More than are counted, of which an earlier release has hidden every second one."""
    chosen = Message.objects.filter(community=community_id, content="Pending").order_by("pk")[:300]
    Message.objects.filter(pk__in=[post.pk for post in chosen]).update(status="hidden", decided_at=Now())
    Message.objects.filter(pk__in=[post.pk for post in chosen[::2]]).update(decided_at=None)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE messaging_message")


def of_communities() -> list[UUID | None]:
    return list(Report.objects.order_by("-pk").values_list("community_id", flat=True)[:2])


def test_a_report_has_the_community_of_its_post(community: Community) -> None:
    """Also one that an older release inserted, before the trigger (NULL) and after it."""
    for post in (MessageFactory(community=community), MessageFactory()):
        Report.objects.create(message=post, reporter=PersonFactory(), reason="spam")
    assert of_communities() == [None, community.pk]
    Report.objects.filter(community_id=community.pk).update(community_id=None)
    for _ in range(2):
        with connection.schema_editor() as editor:
            FILL.set_communities(None, editor)
        assert of_communities() == [None, community.pk]
