"""The same hostile comments in each format: impossible dates, a cycle, an id that comes twice, a text of 10 MB."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from django.core.management.base import CommandError

from messaging.models import Community, Message
from messaging.models.message import CONTENT_MAX
from messaging.pages.page_ids import normalize
from tests.moving.files import ORIGINS, SAMPLES
from tests.moving.imports.importing import HOST, KEYS, import_posts
from tests.moving.writing import DATABASES, FORMATS, PATHS, Comment, write

pytestmark = pytest.mark.django_db
COMMENTS = (
    Comment(1, 0, "before 1970", "1960-01-01T00:00:00Z"),
    Comment(2, 0, "after 2100", "2150-01-01T00:00:00Z"),
    Comment(3, 4, "answers the next one", "2016-05-02T10:00:00Z"),
    Comment(4, 3, "answers the one before", "2016-05-02T10:01:00Z"),
    Comment(5, 0, "good", "2016-05-02T10:02:00Z"),
    Comment(5, 0, "the same id", "2016-05-02T10:03:00Z"),
    Comment(6, 0, "word " * 2_000_000, "2016-05-02T10:04:00Z"),
    Comment(7, 5, "answer", "2016-05-02T10:05:00Z"),
)


@pytest.mark.parametrize("format", FORMATS)
def test_hostile_comments_are_reported_and_the_rest_is_imported(
    format: str, community: Community, tmp_path: Path
) -> None:
    file, maps = write(format, tmp_path / "export", COMMENTS), HOST if format in PATHS else ()
    imported = import_posts(format, file, community, tmp_path / "r.csv", map=maps)
    assert imported.counts["new"] == 7
    reasons = [(row["source_id"], row["reason"]) for row in imported.report]
    assert [source for source, reason in reasons if "The date is missing, before 1990" in reason] == ["1", "2"]
    assert len([source for source, reason in reasons if "It answers itself" in reason]) == 1
    assert [source for source, reason in reasons if "was cut to 20,000" in reason] == ["6"]
    assert [source for source, reason in reasons if "the same id" in reason] == ([] if format in DATABASES else ["5"])
    posts = {message.content[:10].strip(): message for message in Message.objects.filter(community=community)}
    assert posts["answer"].parent_id == posts["good"].pk
    assert len(posts["word word"].content) <= CONTENT_MAX


# By format: how many posts of its small sample are read, and how many have an address once paths have a host.
SAMPLES_OF_ORIGINS = {"comentario": (7, 7), "waline": (7, 6), "twikoo": (7, 6), "artalk": (5, 5), "cusdis": (7, 6)}


@pytest.mark.parametrize("format", ORIGINS)
def test_the_sample_of_an_origin_comes_once_and_its_program_is_recognised(
    format: str, community: Community, tmp_path: Path
) -> None:
    file, report = SAMPLES / ORIGINS[format], tmp_path / "r.csv"
    found, new = SAMPLES_OF_ORIGINS[format]
    imported = import_posts("", file, community, report, map=HOST)
    assert (imported.counts["found in the file"], imported.counts["new"]) == (found, new)
    again = import_posts(format, file, community, report, map=HOST)
    assert (again.counts["new"], again.counts["earlier"], again.id) == (0, new, imported.id)
    pages = set(Message.objects.filter(community=community).values_list("page__normalized_url", flat=True))
    expected = {KEYS["letters"], KEYS["chinese"]} | (
        {"https://lantern.example/guestbook.html"} if format == "twikoo" else set()
    )
    assert pages == {normalize(url).normalized_url for url in expected}
    first = Message.objects.get(community=community, content__startswith="The **reading room**")
    assert (first.author.name, first.created_at.day, first.imported) == ("Maud Pettifer", 3, True)
    assert first.replies.get().replies.count() == 1


def test_a_file_of_another_program_is_refused_with_the_name_of_it(community: Community, tmp_path: Path) -> None:
    for named, name, program in (
        ("commento", "comentario.json.gz", "Comentario"),
        ("isso", "cusdis.db", "Cusdis"),
        ("disqus", "wordpress.xml", "WordPress"),
        ("twikoo", "artalk.artrans", "Artalk"),
    ):
        with pytest.raises(CommandError, match=rf"It seems to be one of {program}: choose that\.$"):
            import_posts(named, SAMPLES / name, community, tmp_path / "r.csv")
    with pytest.raises(CommandError, match="is no export that is known: name its program with --from"):
        import_posts("", SAMPLES / "hostile" / "page.html", community, tmp_path / "r.csv")
    assert not Message.objects.filter(community=community).exists()


@pytest.mark.parametrize("format", ["waline", "twikoo", "artalk", "cusdis"])
def test_a_page_that_the_site_names_itself_is_brought_in_by_a_map(
    format: str, community: Community, tmp_path: Path
) -> None:
    if format == "cusdis":
        file = write(format, tmp_path / "export", [Comment(1, 0, "text")])
        with closing(sqlite3.connect(file)) as database:
            database.execute("UPDATE pages SET url = NULL, slug = 'guest book'")
            database.commit()
    else:
        file = tmp_path / "export"
        named = [{"_id": 1, "id": 1, "objectId": 1, "created": 1, "comment": "text", "content": "text"}]
        named[0] |= {"url": "guest book", "page_key": "guest book"}
        file.write_text(
            json.dumps({"type": format, "version": 1, "data": {"Comment": named}} if format == "waline" else named)
        )
    imported = import_posts(format, file, community, tmp_path / "r.csv")
    assert imported.counts["new"] == 0
    assert "guest book" in imported.report[0]["address"] + imported.report[0]["reason"]
    maps = ("guest book=https://lantern.example/guestbook/",)
    assert import_posts(format, file, community, tmp_path / "r.csv", map=maps).counts["new"] == 1
    assert Message.objects.get(community=community).page.normalized_url.startswith("https://lantern.example/guestbook")
