"""The dates of posts whose file has none that can be: local ones, then those of neighbours, of the thread, of now."""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from messaging.models import Community, Message
from tests.moving.imports.importing import HOST, import_posts
from tests.moving.writing import FORMATS, OTHER, Comment, write

pytestmark = pytest.mark.django_db
ZERO = "0000-00-00 00:00:00"
SAID = "The date is missing, before 1990 or in the future. It has {} now."
HEAD = '<rss xmlns:wp="http://wordpress.org/export/1.2/"><channel>'


def item(path: str, gmt: str, local: str, *comments: tuple[str, str], first: int) -> str:
    """A page with comments, each given as its date in UTC and its local date."""
    rows = (
        f"<wp:comment><wp:comment_id>{number}</wp:comment_id><wp:comment_author>Ada</wp:comment_author>"
        f"<wp:comment_date>{at}</wp:comment_date><wp:comment_date_gmt>{in_utc}</wp:comment_date_gmt>"
        f"<wp:comment_content>{number}</wp:comment_content><wp:comment_approved>1</wp:comment_approved></wp:comment>"
        for number, (in_utc, at) in enumerate(comments, first)
    )
    return (
        f"<item><link>https://lantern.example/{path}/</link><wp:post_date>{local}</wp:post_date>"
        f"<wp:post_date_gmt>{gmt}</wp:post_date_gmt>{''.join(rows)}</item>"
    )


def dates(community: Community) -> dict[str, str]:
    """By text, in the order of lists."""
    posts = Message.objects.filter(community=community).order_by("id")
    return {post.content: f"{post.created_at.astimezone(UTC):%Y-%m-%d %H:%M}" for post in posts}


@pytest.mark.usefixtures("bystander")
def test_a_local_date_has_the_offset_of_the_nearest_other_date(community: Community, tmp_path: Path) -> None:
    file = tmp_path / "a.xml"
    file.write_text(
        HEAD
        + item(
            "winter",
            ZERO,
            "2016-01-10 09:00:00",
            ("2016-01-10 09:00:00", "2016-01-10 10:00:00"),
            (ZERO, "2016-01-12 12:00:00"),
            ("", "2016-01-13 12:00:00"),
            ("1970-01-01 00:00:00", "2016-01-14 12:00:00"),
            first=1,
        )
        # Before the only dates of summer that show their offset, which are more than a zone apart in the third.
        + item(
            "summer",
            "2016-07-10 08:00:00",
            "2016-07-10 10:00:00",
            (ZERO, "2016-07-01 12:00:00"),
            (ZERO, ZERO),
            ("2016-08-01 12:00:00", "2016-08-03 12:00:00"),
            first=5,
        )
        + "</channel></rss>"
    )
    imported = import_posts("wordpress", file, community, tmp_path / "r.csv")
    assert dates(community) == {
        "1": "2016-01-10 09:00",
        "2": "2016-01-12 11:00",
        "3": "2016-01-13 11:00",
        "4": "2016-01-14 11:00",
        "5": "2016-07-01 10:00",
        "6": "2016-07-16 23:00",
        "7": "2016-08-01 12:00",
    }
    local = SAID.format("the local date, with the offset {} of other dates")
    between = SAID.format("one between those of its neighbours in the thread")
    assert {row["source_id"]: row["reason"] for row in imported.report} == {
        **dict.fromkeys("234", local.format("+01:00")),
        "5": local.format("+02:00"),
        "6": between,
    }


def test_a_local_date_is_one_of_utc_where_no_other_shows_the_offset(community: Community, tmp_path: Path) -> None:
    file = tmp_path / "a.xml"
    comments = ((ZERO, "2016-07-01 12:00:00"), (ZERO, "1969-07-01 12:00:00"), (ZERO, "soon"))
    file.write_text(HEAD + item("a", ZERO, ZERO, *comments, first=1) + "</channel></rss>")
    imported = import_posts("wordpress", file, community, tmp_path / "r.csv")
    assert dates(community) == dict.fromkeys("123", "2016-07-01 12:00")
    assert "as one of UTC" in imported.report[0]["reason"]
    assert ["that of its neighbour" in row["reason"] for row in imported.report] == [False, True, True]


def test_a_thread_without_dates_has_its_own_local_date(community: Community, tmp_path: Path) -> None:
    file = tmp_path / "a.xml"
    of_thread = item("a", ZERO, "2015-02-01 12:00:00", (ZERO, ZERO), (ZERO, ""), first=1)
    shown = item("b", "2015-01-31 10:00:00", "2015-01-31 04:30:00", (ZERO, ZERO), first=3)
    file.write_text(HEAD + of_thread + shown + "</channel></rss>")
    imported = import_posts("wordpress", file, community, tmp_path / "r.csv")
    assert dates(community) == {"3": "2015-01-31 10:00", "1": "2015-02-01 17:30", "2": "2015-02-01 17:30"}
    assert {row["reason"] for row in imported.report} == {SAID.format("that of its thread")}


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.usefixtures("bystander")
def test_the_order_of_a_thread_is_that_of_the_file(format: str, community: Community, tmp_path: Path) -> None:
    none = ""
    comments = [
        Comment(9, 0, "before all", none),
        Comment(8, 0, "first", "2016-05-02T10:00:00Z"),
        Comment(7, 0, "one third", none),
        Comment(6, 0, "elsewhere", "2011-01-01T00:00:00Z", address=OTHER),
        Comment(5, 8, "two thirds", none),
        Comment(4, 0, "last", "2016-05-02T13:00:00Z"),
        Comment(3, 0, "after all", none),
        Comment(2, 3, "answers it", none),
        Comment(1, 0, "elsewhere too", none, address=OTHER),
    ]
    if format == "isso":
        # Its comments are read by their id.
        comments = [each._replace(id=10 - each.id, parent=each.parent and 10 - each.parent) for each in comments]
    file = write(format, tmp_path / "export", comments)
    imported = import_posts(format, file, community, tmp_path / "r.csv", map=HOST)
    found = dates(community)
    assert list(found) == [
        *("elsewhere", "elsewhere too", "before all", "first", "one third", "two thirds", "last"),
        *("after all", "answers it"),
    ]
    assert (found["one third"], found["two thirds"]) == ("2016-05-02 11:00", "2016-05-02 12:00")
    assert found["elsewhere too"] == "2011-01-01 00:00"
    assert (found["before all"], found["answers it"]) == ("2016-05-02 10:00", "2016-05-02 13:00")
    assert len(imported.report) == 6
    again = import_posts(format, file, community, tmp_path / "r.csv", map=HOST)
    assert (again.counts["new"], again.report, dates(community)) == (0, imported.report, found)


def test_no_answer_is_before_what_it_answers(community: Community, tmp_path: Path) -> None:
    """The file has answers first."""
    comments = [
        Comment(1, 0, "old", "2016-05-02T10:00:00Z"),
        Comment(2, 4, "answer", ""),
        Comment(3, 0, "young", "2016-05-02T12:00:00Z"),
        Comment(4, 0, "question", "2016-05-02T11:30:00Z"),
        Comment(5, 6, "dated answer", "2016-05-02T12:30:00Z"),
        Comment(6, 0, "later question", ""),
        Comment(7, 0, "youngest", "2016-05-02T14:00:00Z"),
    ]
    imported = import_posts("remark42", write("remark42", tmp_path / "a", comments), community, tmp_path / "r.csv")
    found = dates(community)
    assert found["answer"] == "2016-05-02 11:30"
    assert found["later question"] == found["dated answer"] == "2016-05-02 12:30"
    assert "that of the post that it answers" in imported.report[0]["reason"]


def test_only_a_thread_without_any_date_has_that_of_the_import(community: Community, tmp_path: Path) -> None:
    comments = [Comment(n, 0, f"{n}", "2999-01-01T00:00:00Z") for n in (3, 1, 2)]
    imported = import_posts("commento", write("commento", tmp_path / "a", comments), community, tmp_path / "r.csv")
    posts = Message.objects.filter(community=community).order_by("id")
    assert [post.content for post in posts] == ["3", "1", "2"]
    assert all(timezone.now() - post.created_at < timedelta(hours=1) for post in posts)
    assert "that of the import" in imported.report[0]["reason"]


def test_times_in_milliseconds_are_read(community: Community, tmp_path: Path) -> None:
    file = write("isso", tmp_path / "a.db", [Comment(1, 0, "one", "2016-05-02T10:00:00Z")])
    with sqlite3.connect(file) as database:
        database.execute("UPDATE comments SET created = created * 1000")
    import_posts("isso", file, community, tmp_path / "r.csv", map=HOST)
    assert Message.objects.get().created_at == datetime(2016, 5, 2, 10, tzinfo=UTC)
