"""Several sites of one system in one community: all number their comments and authors from 1."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from messaging.models import Community, Message
from moving.models import ImportedAuthor, ImportedPost
from tests.moving import writing
from tests.moving.imports.importing import Imported, import_posts
from tests.moving.writing import Comment

pytestmark = pytest.mark.django_db
SITES = ("a.example", "b.example/one", "b.example/two")


def comments(site: str, numbers: range) -> list[Comment]:
    """Each answers the one before; for isso, the path of the address is that of the site's page."""
    address = f"https://{site}/post/"
    return [Comment(n, n - 1, f"{site} {n}", author=f"Editor of {site}", address=address) for n in numbers]


def wordpress(path: Path, site: str, numbers: range) -> Path:
    path.write_text("".join(writing.wordpress(comments(site, numbers), home=f"https://{site}")))
    return path


def isso(path: Path, site: str, numbers: range) -> Path:
    here = (each._replace(address="/post/") for each in comments(site, numbers))
    return writing.write_isso(path, here)


WRITERS = {writer.__name__: writer for writer in (wordpress, isso)}


@pytest.fixture(params=WRITERS)
def run(request: pytest.FixtureRequest, community: Community, tmp_path: Path) -> Callable[..., Imported]:
    def run(site: str, numbers: range, **options: bool) -> Imported:
        file = WRITERS[request.param](tmp_path / "file", site, numbers)
        return import_posts(request.param, file, community, tmp_path / "r.csv", map=(f"/=https://{site}/",), **options)

    return run


def test_each_site_has_its_comments_threads_and_authors(community: Community, run: Callable[..., Imported]) -> None:
    for site in SITES:
        assert run(site, range(1, 4), dry_run=True).counts["new"] == 3
        assert run(site, range(1, 4)).counts["new"] == 3
    for site in SITES:
        later = run(site, range(1, 6))
        assert (later.counts["new"], later.counts["earlier"], later.report) == (2, 3, [])
        posts = list(Message.objects.filter(community=community, content__startswith=f"{site} ").order_by("id"))
        assert [post.content for post in posts] == [f"{site} {number}" for number in range(1, 6)]
        assert [post.parent_id for post in posts] == [None, *(post.pk for post in posts[:-1])]
        assert {(post.author.name, post.page.normalized_url) for post in posts} == {
            (f"Editor of {site}", f"https://{site}/post")
        }
    assert ImportedAuthor.objects.count() == len(SITES)


def test_what_was_imported_without_a_site_is_known(run: Callable[..., Imported]) -> None:
    first, *others = SITES
    run(first, range(1, 4))
    for row in (*ImportedPost.objects.all(), *ImportedAuthor.objects.all()):
        site, _, row.source_id = row.source_id.partition(" ")
        assert site == f"https://{first}/"
        row.save()
    assert run(others[0], range(1, 4)).counts["new"] == 3
    later = run(first, range(1, 6))
    assert (later.counts["new"], later.counts["earlier"]) == (2, 3)
    assert ImportedAuthor.objects.count() == 2
