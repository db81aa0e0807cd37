"""Threads that a file knows by an identifier: the report names them, and what it advises brings them in."""

from __future__ import annotations

import csv
import json
import shlex
import sqlite3
from contextlib import closing
from html import escape
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError
from django.test import Client

from kernel.jobs.queue import run_due
from messaging.models import Community, Message
from moving.models import Move
from moving.uploads import MAP_FILE_MAX
from tests.factories import CommunityFactory, PersonFactory
from tests.moving.imports.generating import HEAD, post_xml
from tests.moving.imports.importing import import_own, import_posts, site
from tests.moving.imports.test_pages import act, client_of, path, upload
from tests.moving.writing import Comment, write

pytestmark = pytest.mark.django_db
# As sites and plugins call their threads, and as nobody should.
IDENTIFIERS = (
    *("post-42", "42", "123 http://old.example/?p=123", "http://old.example/a/", "a=b", "x=http://y.example/=z"),
    *('it\'s "one"', "=SUM(A1)", "-7", "@me", "блог/42", "p?q#r:s", "www.", "$HOME `ls` | *", "a;b,c", "//x"),
)
PAGE = "https://lantern.example/{}/"


def disqus(path: Path, identifiers: tuple[str, ...] = IDENTIFIERS, link: str = "") -> Path:
    threads = "".join(
        f'<thread dsq:id="t{number}"><id>{escape(each)}</id><link>{link}</link><title>Title {number}</title></thread>'
        for number, each in enumerate(identifiers)
    )
    posts = "".join(post_xml(number, f"Text {number}", number, 1, None) for number in range(len(identifiers)))
    path.write_text(f"{HEAD}{threads}{posts}</disqus>")
    return path


def isso(path: Path, identifiers: tuple[str, ...]) -> Path:
    write("isso", path, [Comment(n, 0, f"Text {n - 1}") for n in range(1, len(identifiers) + 1)])
    with closing(sqlite3.connect(path)) as database:
        database.execute("DELETE FROM threads")
        for number, each in enumerate(identifiers, 1):
            database.execute("INSERT INTO threads VALUES (?, ?, ?)", (number, each, f"Title {number - 1}"))
            database.execute("UPDATE comments SET tid = ? WHERE id = ?", (number, number))
        database.commit()
    return path


def commento(path: Path, identifiers: tuple[str, ...]) -> Path:
    write("commento", path, [Comment(n, 0, f"Text {n}") for n in range(len(identifiers))])
    values = json.loads(path.read_text())
    for comment, identifier in zip(values["comments"], identifiers, strict=True):
        comment["url"] = identifier
    path.write_text(json.dumps(values))
    return path


def pages(community: Community) -> dict[str, str]:
    return dict(Message.objects.filter(community=community).values_list("content", "page__normalized_url"))


def advised(reason: str) -> list[str]:
    """The replacement that a row of the report advises, as a shell reads it."""
    words = shlex.split(reason.partition("--map ")[2].partition(" or a row")[0]) if "--map " in reason else []
    assert len(words) < 2, reason
    return words


@pytest.mark.parametrize(
    ("format", "writer", "identifiers"),
    [
        ("disqus", disqus, IDENTIFIERS),
        # Of isso, it is an address where it begins like one; Commento's addresses begin with a slash.
        ("isso", isso, tuple(each for each in IDENTIFIERS if not each.startswith(("http", "//")))),
        ("commento", commento, tuple(each for each in IDENTIFIERS if not each.startswith("//"))),
    ],
)
@pytest.mark.usefixtures("bystander")
def test_what_a_row_advises_brings_its_thread_in(
    format: str, writer: object, identifiers: tuple[str, ...], community: Community, tmp_path: Path
) -> None:
    file, report = writer(tmp_path / "file", identifiers), tmp_path / "r.csv"  # type: ignore[operator]
    first = import_posts(format, file, community, report)
    assert (first.counts["new"], first.counts["skipped"]) == (0, len(identifiers))
    for row, identifier in zip(first.report, identifiers, strict=True):
        assert " ".join(identifier.split()) in row["reason"]
        assert row["address"].removeprefix("'") == identifier
        assert format == "commento" or "Title" in row["reason"]
    maps = [replacement for row in first.report for replacement in advised(row["reason"])]
    assert len(maps) >= len(identifiers) - 1
    # The report itself, with a further column.
    rows = [row | {"url": PAGE.format(number)} for number, row in enumerate(first.report)]
    by_file = tmp_path / "map.csv"
    with by_file.open("w", encoding="utf-8-sig", newline="") as out:
        writer_ = csv.DictWriter(out, rows[0], delimiter=";")
        writer_.writeheader()
        writer_.writerows(rows)
    expected = {f"Text {number}": PAGE.format(number).rstrip("/") for number in range(len(identifiers))}
    imported = import_posts(format, file, community, report, map_file=by_file)
    assert (pages(community), imported.report) == (expected, [])
    assert import_posts(format, file, community, report, map_file=by_file).counts["new"] == 0
    mapped = import_posts(format, file, CommunityFactory(), report, map=tuple(maps))
    assert {row["source_id"] for row in mapped.report} == {
        row["source_id"] for row in first.report if not advised(row["reason"])
    }


def test_the_sample_of_a_thread_without_a_link(community: Community, tmp_path: Path) -> None:
    file = disqus(tmp_path / "a.xml", ("post-42",))
    (row,) = import_posts("disqus", file, community, tmp_path / "r.csv").report
    assert row == {
        "source_id": "0",
        "address": "post-42",
        "action": "skipped",
        "reason": 'The thread "Title 0" has no address. Give its identifier, post-42, one with '
        "--map post-42=https://site.example/page or a row of --map-file.",
    }


def test_a_thread_that_nothing_names_has_no_advice(community: Community, tmp_path: Path) -> None:
    file = commento(tmp_path / "a.json", ("x" * 400,))
    (row,) = import_posts("commento", file, community, tmp_path / "r.csv").report
    assert row["reason"] == "The thread has no address on the web."
    file = write("jsonl", tmp_path / "a.jsonl", [Comment(1, 0, "Text", address="mailto:a@b.example")])
    (row,) = import_posts("jsonl", file, community, tmp_path / "r.csv").report
    assert advised(row["reason"]) == ["mailto:a@b.example=https://site.example/page"]


def test_an_identifier_of_a_thread_with_a_link_may_be_given_another_page(community: Community, tmp_path: Path) -> None:
    file = disqus(tmp_path / "a.xml", ("one", "one-more"), link="http://localhost:4000/x/")
    import_posts(
        "disqus", file, community, tmp_path / "r.csv", map=(f"one={PAGE.format(1)}", "localhost:4000=b.example")
    )
    assert pages(community) == {"Text 0": "https://lantern.example/1", "Text 1": "https://b.example/x"}


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("post-2,lantern.example/2", (2,)),
        ("post-1,https://lantern.example/1/\npost-2,lantern.example/2\n", (1, 2)),
        ('Identifier,URL\r\npost-2;x,\r\n"post-1","https://lantern.example/1/"\r\n', (1,)),
        ("id;target\npost-1;https://lantern.example/1/\n\n;https://lantern.example/3/", (1,)),
        ("post-1\thttps://lantern.example/1?a=1;b,c\n", ("1?a=1;b,c",)),
    ],
)
def test_a_file_of_addresses_has_two_columns(
    content: str, expected: tuple[object, ...], community: Community, tmp_path: Path
) -> None:
    file, map_file = disqus(tmp_path / "a.xml", ("post-1", "post-2")), tmp_path / "m.csv"
    for encoding in ("utf-8", "utf-16"):
        map_file.write_text(content, encoding=encoding)
        import_posts("disqus", file, community, tmp_path / "r.csv", map_file=map_file)
        assert list(pages(community).values()) == [f"https://lantern.example/{each}" for each in expected]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "CSV of two columns"),
        (b"post-1\n", "CSV of two columns"),
        (b"\xff\xfe\x00", "CSV of two columns"),
        (b"a,https://a.example/\nb,\xff", "CSV of two columns"),
        (b"source_id,address,action,reason\n1,post-1,skipped,None\n", "CSV of two columns"),
        (b"a,https://a.example/\nb,https://\n", "Correct row 2"),
        (b"address,url\nb,/relative/\n", "Correct row 2"),
    ],
)
def test_a_file_that_is_none_is_refused_before_anything_is_written(
    content: bytes, said: str, community: Community, tmp_path: Path
) -> None:
    file, map_file = disqus(tmp_path / "a.xml"), tmp_path / "m.csv"
    map_file.write_bytes(content)
    with pytest.raises(CommandError, match=said):
        import_posts("disqus", file, community, tmp_path / "r.csv", map_file=map_file)
    with pytest.raises(CommandError, match="cannot be read"):
        import_posts("disqus", file, community, tmp_path / "r.csv", map_file=tmp_path / "none.csv")
    assert not Move.objects.filter(community=community).exists()


class TestInTheBrowser:
    @pytest.fixture
    def client(self) -> Client:
        self.person = PersonFactory()
        self.community = site(self.person, "Harbour")
        return client_of(self.person)

    def send(self, client: Client, tmp_path: Path, map_file: bytes | None) -> str:
        content = disqus(tmp_path / "a.xml", ("post-1", "post-2")).read_bytes()
        fields = {} if map_file is None else {"map_file": SimpleUploadedFile("map.csv", map_file)}
        return str(upload(client, self.community, content, **fields).content.decode())  # type: ignore[arg-type]

    @pytest.mark.usefixtures("bystander")
    def test_a_file_of_addresses_comes_with_the_export(self, client: Client, tmp_path: Path) -> None:
        for rows, new in ((b"post-1,https://lantern.example/1/", 1), (None, 0), (b"post-2,lantern.example/2", 1)):
            self.send(client, tmp_path, rows)
            run_due("imports")
            move = Move.objects.get(community=self.community)
            assert (move.status, move.counts["new"], move.counts["skipped"]) == ("checked", new, 2 - new)
        act(client, move, "start")
        run_due("imports")
        assert pages(self.community) == {"Text 1": "https://lantern.example/2"}
        assert not move.parts.filter(kind="upload").exists()

    @pytest.mark.parametrize(
        ("map_file", "said"),
        [
            (b"post-1", "Send a CSV file of two columns"),
            (b"a,https://a.example/\nb,https://", "Correct row 2 of the file of addresses"),
            (b"a,https://a.example/\n" * (MAP_FILE_MAX // 20), "This file is too large"),
        ],
    )
    def test_a_file_of_addresses_that_is_none_is_refused(
        self, map_file: bytes, said: str, client: Client, tmp_path: Path
    ) -> None:
        page = self.send(client, tmp_path, map_file)
        assert said in page
        assert not Move.objects.filter(community=self.community).exists()
        assert client.get(path(self.community)).status_code == 200


@pytest.mark.parametrize(
    ("parent", "said"),
    [
        (Comment(1, 0, " "), "left out"),
        (Comment(1, 0, "Elsewhere", address="mailto:a@b.example"), "left out"),
        (None, "not in the file"),
    ],
)
def test_not_in_the_file_is_said_of_what_is_not(
    parent: Comment | None, said: str, community: Community, tmp_path: Path
) -> None:
    comments = [*([parent] if parent else []), Comment(2, 1, "Answer")]
    imported = import_posts("remark42", write("remark42", tmp_path / "a", comments), community, tmp_path / "r.csv")
    reason = f"The post that it answers is {said}. It is a post of its own now."
    assert [row["reason"] for row in imported.report if row["source_id"] == "2"] == [reason]


@pytest.mark.parametrize(
    ("quoted", "said"),
    [
        ({"id": "1", "status": "deleted"}, "left out"),
        ({"id": "1", "author": None}, "left out"),
        ({"id": "3"}, "not in the file"),
    ],
)
def test_a_quoted_post_that_is_left_out_is_not_said_to_be_missing(
    quoted: dict[str, object], said: str, community: Community, tmp_path: Path
) -> None:
    imported = import_own(tmp_path / "a.jsonl", community, quoted, {"id": "2", "quoteId": "1"})
    assert any(f"quoteId (the quoted post is {said})" in row["reason"] for row in imported.report)


def test_what_a_damaged_line_has_is_not_said_to_be_missing(community: Community, tmp_path: Path) -> None:
    file = write("remark42", tmp_path / "a", [Comment(1, 0, "Post"), Comment(2, 1, "Answer")])
    lines = file.read_text().splitlines()
    file.write_text("\n".join([lines[0], lines[1][:50], lines[2]]))
    imported = import_posts("remark42", file, community, tmp_path / "r.csv")
    assert "in no part of the file that could be read" in imported.report[-1]["reason"]


@pytest.mark.parametrize("format", ["disqus", "wordpress", "remark42", "isso", "commento", "jsonl"])
def test_links_through_the_old_vendor_are_those_to_their_targets(
    format: str, community: Community, tmp_path: Path
) -> None:
    """Other systems have imported comments of Disqus. Posts of our own exports stay as they were written."""
    link = "https://disq.us/url?url=https%3A%2F%2Ft.example%2Fa%3AAbC-EfGh_jKlMnOp"
    file = write(format, tmp_path / "file", [Comment(1, 0, f"See {link}")])
    import_posts(format, file, community, tmp_path / "r.csv", map=("/=https://lantern.example/",))
    assert list(pages(community)) == [f"See {link if format == 'jsonl' else 'https://t.example/a'}"]
