"""A page accepts posts for 30 days after its id was issued, also while unused pages are deleted."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction

from kernel.database.sql import database_now, execute
from messaging.models import Message, Page
from messaging.pages import services as pages
from messaging.pages.services import delete_unused_pages, normalize_url
from tests.agents.factories import agent_with_token
from tests.api import Answer, Api
from tests.commands.running import run_json
from tests.factories import MessageFactory, PageFactory, PersonFactory
from tests.plans import generic_plan, rows_read
from tests.sessions import WAIT_SECONDS, in_background, wait_until_another_waits
from tests.waiting import PATIENCE_SECONDS

URL = "https://example.com/a"


def an_old_page(days: float = 31) -> Page:
    page = PageFactory(url=URL)
    Page.objects.filter(pk=page.pk).update(created_at=database_now() - timedelta(days=days))
    return page


def issue_page() -> str:
    page_id: str = Api().post("/v1/presence/normalize-url", {"url": URL}).json["pageId"]
    return page_id


def post(page_id: str) -> Answer:
    return agent_with_token().api.post("/api/messages", {"pageId": page_id, "content": "Hi"})


@pytest.mark.django_db
def test_an_old_unused_page_that_is_issued_again_accepts_posts() -> None:
    an_old_page()
    page_id = issue_page()
    assert run_json("prune", "--json")["unused pages"] == 0
    assert post(page_id).status == 201


@pytest.mark.django_db
def test_a_page_without_posts_is_deleted_30_days_after_it_was_last_issued() -> None:
    page, issued = an_old_page(days=90), PageFactory()
    issue_page()
    Page.objects.filter(pk=page.pk).update(handed_out_at=database_now() - timedelta(days=31))
    assert run_json("prune", "--dry-run", "--json")["unused pages"] == 1
    assert run_json("prune", "--json")["unused pages"] == 1
    assert (post(page.pk).error, post(issued.pk).status) == ("unknown_page", 201)
    assert post(issue_page()).status == 201


@pytest.mark.django_db
def test_a_page_with_posts_is_not_deleted() -> None:
    page = an_old_page()
    MessageFactory(page=page, status="hidden")
    assert run_json("prune", "--json")["unused pages"] == 0


@pytest.mark.django_db
@pytest.mark.parametrize(("days", "writes"), [(0.9, False), (1.1, True)])
def test_issuing_a_page_writes_at_most_once_a_day(days: float, writes: bool) -> None:
    an_old_page(days)
    for expected in (writes, False):
        before = _version()
        issue_page()
        assert (_version() != before) is expected


def _version() -> tuple[str, str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT ctid::text, xmin::text FROM messaging_page")
        (row,) = cursor.fetchall()
    return row


def prune() -> int:
    return delete_unused_pages(before=database_now() - timedelta(days=30), batch=10)


@pytest.mark.django_db
def test_each_statement_reads_a_batch_of_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Streams wait for the oldest transaction. The pages without posts are among many that have some."""
    unused, batch, plans = {"00", "5f", "ff"}, 20, []
    old = database_now() - timedelta(days=31)
    used = [Page(id=f"{number:04}", normalized_url=f"{URL}/{number}", created_at=old) for number in range(160)]
    Page.objects.bulk_create([*used, *(Page(id=each, normalized_url=each, created_at=old) for each in unused)])
    MessageFactory.create_batch(2, page=used[0])
    for page in used[::4]:
        MessageFactory(page=page)
    Page.objects.filter(messages=None).exclude(pk__in=unused).update(handed_out_at=database_now())
    execute("ANALYZE messaging_page, messaging_message")

    def explained(run: Callable[..., Any]) -> Callable[..., Any]:
        def run_explained(statement: str, values: dict[str, Any]) -> Any:
            with transaction.atomic():
                plans.append(generic_plan(statement, values))
                transaction.set_rollback(True)
            return run(statement, values)

        return run_explained

    for name in ("execute", "fetch_one"):
        monkeypatch.setattr(pages, name, explained(getattr(pages, name)))
    assert delete_unused_pages(before=database_now() - timedelta(days=30), batch=batch) == len(unused)
    assert (Page.objects.count(), Page.objects.filter(pk__in=unused).exists()) == (160, False)
    assert len(plans) > 160 / batch
    assert max(rows_read(plan, "messaging_page") for plan in plans) <= batch + len(unused)
    assert max(rows_read(plan, "messaging_message") for plan in plans) <= batch


@pytest.mark.django_db(transaction=True)
def test_a_page_that_is_being_issued_is_not_pruned() -> None:
    an_old_page()
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            page = normalize_url(url=URL)
            assert in_background(pool, prune).result(WAIT_SECONDS) == 0
        assert prune() == 0
    assert post(page.page_id).status == 201


@pytest.mark.django_db(transaction=True)
def test_a_page_that_is_being_pruned_is_inserted_again() -> None:
    an_old_page()
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            assert prune() == 1
            issued = in_background(pool, issue_page)
            wait_until_another_waits()
        page_id = issued.result(WAIT_SECONDS)
    assert Page.objects.get().pk == page_id
    assert post(page_id).status == 201


@pytest.mark.django_db(transaction=True)
def test_an_uncommitted_first_post_prevents_pruning_of_its_page() -> None:
    page, writer = an_old_page(), PersonFactory()
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            MessageFactory(page=page, author=writer)
            # Checks the foreign key and so locks the page, as the commit does.
            with connection.cursor() as cursor:
                cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
            assert in_background(pool, prune).result(WAIT_SECONDS) == 0
        assert prune() == 0
    assert (Page.objects.count(), Message.objects.count()) == (1, 1)


@pytest.mark.django_db(transaction=True)
def test_concurrent_issuing_pruning_and_first_posts_lose_no_post() -> None:
    """Each writer gets an old unused page and posts; the pruner runs continuously."""
    writers, done = [agent_with_token() for _ in range(3)], threading.Event()

    def write(number: int) -> list[int]:
        path, statuses = "/api/messages", []
        for turn in range(6):
            page_id = normalize_url(url=f"https://example.com/{turn}").page_id
            statuses.append(writers[number].api.post(path, {"pageId": page_id, "content": "Hi"}).status)
        return statuses

    def prune_always() -> None:
        while not done.is_set():
            prune()

    for turn in range(6):
        PageFactory(url=f"https://example.com/{turn}", created_at=database_now() - timedelta(days=31))
    with ThreadPoolExecutor(4) as pool:
        pruner = in_background(pool, prune_always)
        try:
            written = [in_background(pool, lambda number=number: write(number)) for number in range(3)]
            statuses = [status for future in written for status in future.result(PATIENCE_SECONDS)]
        finally:
            done.set()
        pruner.result(WAIT_SECONDS)
    assert statuses == [201] * 18
    assert Message.objects.count() == 18
