"""Several sites of one system in one community: all number their comments and authors from 1."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from messaging.models import Community, Message
from moving.models import ImportedAuthor, ImportedPost
from tests.factories import CommunityFactory
from tests.moving.imports.importing import Imported, import_posts

pytestmark = pytest.mark.django_db
COMMENT = """<wp:comment><wp:comment_id>{number}</wp:comment_id><wp:comment_author>Editor of {site}</wp:comment_author>
<wp:comment_date_gmt>2020-01-01 10:00:00</wp:comment_date_gmt>
<wp:comment_content>{site} {number}</wp:comment_content><wp:comment_approved>1</wp:comment_approved>
<wp:comment_parent>{parent}</wp:comment_parent><wp:comment_user_id>1</wp:comment_user_id></wp:comment>"""


def wordpress(path: Path, site: str, numbers: range) -> Path:
    comments = "".join(COMMENT.format(site=site, number=number, parent=number - 1) for number in numbers)
    link = f"<link>https://{site}/post/</link>"
    home = f"<wp:base_blog_url>https://{site}</wp:base_blog_url>"
    path.write_text(f"<rss><channel>{home}<item>{link}{comments}</item></channel></rss>")
    return path


def isso(path: Path, site: str, numbers: range) -> Path:
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE threads (id INTEGER PRIMARY KEY, uri VARCHAR(256) UNIQUE, title VARCHAR(256))")
        database.execute(
            "CREATE TABLE comments (tid REFERENCES threads(id), id INTEGER PRIMARY KEY, parent INTEGER, created FLOAT, "
            "modified FLOAT, mode INTEGER, text VARCHAR, author VARCHAR, email VARCHAR, likes INTEGER, dislikes INT)"
        )
        database.execute("INSERT INTO threads VALUES (1, '/post/', '')")
        rows = ((number, number - 1 or None, f"{site} {number}", f"Editor of {site}") for number in numbers)
        statement = "INSERT INTO comments VALUES (1, ?, ?, 1.5e9, NULL, 1, ?, ?, NULL, 0, 0)"
        database.executemany(statement, rows)
        database.commit()
    return path


SITES = ("a.example", "b.example/one", "b.example/two")
WRITERS = {writer.__name__: writer for writer in (wordpress, isso)}


@pytest.fixture
def community() -> Community:
    return CommunityFactory()


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
