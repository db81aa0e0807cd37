"""Imports of further posts of pages that got their ids by the rules of an earlier release."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from kernel.changes.models import Change
from messaging.models import Community, Message, Page
from messaging.pages.moving import move_page
from messaging.pages.page_ids import normalize
from moving.imports import writing
from moving.imports.announcing import announce
from moving.models import ImportedAuthor, ImportedPage, ImportedPost, Move
from tests.agents.racing import race
from tests.factories import CommunityFactory
from tests.messaging.test_derived_rows import check
from tests.moving.imports.importing import import_own, import_posts
from tests.moving.imports.test_sites import wordpress

pytestmark = pytest.mark.django_db
URL = "https://lantern.example/renamed/"


@pytest.fixture
def community(tmp_path: Path) -> Community:
    """With an imported post on a page with another id than its URL has now."""
    found = CommunityFactory()
    import_own(tmp_path / "a.jsonl", found, {"id": "1"})
    Page.objects.update(normalized_url=normalize(URL).normalized_url)
    return found


def posts() -> dict[str, Message]:
    return {post.content: post for post in Message.objects.all()}


def test_replies_to_an_earlier_post_are_on_its_page(community: Community, tmp_path: Path) -> None:
    replies = [{"id": "2", "pageUrl": URL, "parentId": "1"}, {"id": "3", "pageUrl": URL, "parentId": "2"}]
    imported = import_own(tmp_path / "b.jsonl", community, {"id": "1", "pageUrl": URL}, *replies)
    assert (imported.counts["new"], imported.report) == (2, [])
    written = posts()
    assert [written[each].parent_id for each in "23"] == [written["1"].pk, written["2"].pk]
    assert {post.page_id for post in written.values()} == {written["1"].page_id}
    check()


def test_a_reply_on_another_page_is_a_post_of_its_own(community: Community, tmp_path: Path) -> None:
    other = f"{URL}other/"
    import_own(tmp_path / "b.jsonl", community, {"id": "2", "pageUrl": other, "parentId": "1"})
    assert (posts()["2"].parent, posts()["2"].page_id) == (None, normalize(other).page_id)


@pytest.mark.django_db(transaction=True)
def test_replies_that_are_written_while_the_page_is_moved_are_on_the_new_page(
    community: Community, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    accounts_of = writing.accounts_of

    def move_before(*args: Any, **options: Any) -> Any:
        old = Page.objects.exclude(pk=normalize(URL).page_id).first()
        if old is not None:
            with ThreadPoolExecutor(1) as pool:
                assert pool.submit(race, 1, lambda _number: move_page(old)).result() == [1]
        return accounts_of(*args, **options)

    monkeypatch.setattr(writing, "accounts_of", move_before)
    import_own(tmp_path / "b.jsonl", community, {"id": "2", "pageUrl": URL, "parentId": "1"})
    assert posts()["2"].parent_id == posts()["1"].pk
    assert {post.page_id for post in posts().values()} == {normalize(URL).page_id}
    assert Page.objects.count() == 1
    check()


def test_posts_of_a_page_that_moved_are_announced_on_the_new_page(community: Community, tmp_path: Path) -> None:
    other = f"{URL}other/"
    import_own(tmp_path / "b.jsonl", community, {"id": "2", "pageUrl": other})
    move_page(Page.objects.exclude(pk=normalize(other).page_id).get())
    Change.objects.all().delete()
    ImportedPage.objects.update(announced=0)
    for move in Move.objects.all():
        announce(move, tell=lambda: None)
    assert {*Change.objects.values_list("page_id", flat=True)} == {normalize(url).page_id for url in (URL, other)}


def test_what_was_imported_without_a_site_is_known_on_a_page_with_another_id(tmp_path: Path) -> None:
    file, community = tmp_path / "file", CommunityFactory()
    import_posts("wordpress", wordpress(file, "a.example", range(1, 4)), community, tmp_path / "r.csv")
    for row in (*ImportedPost.objects.all(), *ImportedAuthor.objects.all()):
        row.source_id = row.source_id.partition(" ")[2]
        row.save()
    Page.objects.update(normalized_url=normalize("https://a.example/renamed/").normalized_url)
    file.write_text(file.read_text().replace("/post/", "/renamed/"))
    again = import_posts("wordpress", file, community, tmp_path / "r.csv")
    assert (again.counts["new"], again.counts["earlier"]) == (0, 3)
