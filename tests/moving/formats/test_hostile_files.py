"""Hostile and damaged files: what is good in them is read, and the rest is a row of the report."""

from __future__ import annotations

import gzip
import socket
from pathlib import Path
from typing import Any

import pytest

from messaging.markdown.html import to_html, to_plain
from moving import formats
from moving.formats import UnreadableFile
from moving.formats import records as values
from moving.formats.records import PIECE
from tests.moving.files import FACTS, SAMPLES, posts, read, reasons
from tests.moving.large_files import write

HOSTILE: dict[str, dict[str, Any]] = FACTS["hostile"]
FOLDER = SAMPLES / "hostile"
REFUSED = {
    "billion-laughs.xml": "document type",
    "external-entity.xml": "document type",
    "external-dtd.xml": "document type",
    "version-9.jsonl": "version 9. Known is version 1.",
    "empty.xml": "The file is empty",
    "page.html": "The file is no export of Disqus",
    "list.json": "The file is no export of Commento",
    "isso-cut.db": "The database cannot be read",
    "isso-other.db": "no table `threads`",
}
# By file: the number of posts that are read, of which the writer may skip some, and the reasons.
READ = {
    "cut-off.xml": (40, ["The XML is cut off or damaged: unclosed CDATA section, in line 72"]),
    "wrong-encoding.xml": (7, ["Bytes that are no text of the file's encoding"]),
    "utf-16.xml": (7, []),
    "windows-1251.xml": (7, []),
    "cycle.xml": (8, []),
    "forward.xml": (3, []),
    "duplicate-ids.xml": (5, []),
    "dates.xml": (9, []),
    "over-long.xml": (3, []),
    "markup.xml": (9, []),
    "addresses.xml": (9, []),
    "lines.jsonl": (8, ["Line 3 is not read.", "Line 5 is not", "Line 8 is not", "The comment has no address."]),
    "commento.json": (6, ["The comment has no text."]),
    "isso-odd.db": (8, ["is not in the file.", "The state of the comment is not known."]),
}


def test_every_hostile_file_has_a_test() -> None:
    assert {path.name for path in FOLDER.iterdir()} == REFUSED.keys() | READ.keys()


@pytest.fixture(autouse=True)
def _no_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_args: object, **_kwargs: object) -> None:
        pytest.fail("a reader opened a connection")

    monkeypatch.setattr(socket.socket, "connect", refuse)


@pytest.mark.parametrize("name", REFUSED)
def test_a_file_is_refused_with_a_sentence_that_says_what_it_is(name: str) -> None:
    with pytest.raises(UnreadableFile, match=REFUSED[name]) as refusal:
        read(HOSTILE[name]["format"], FOLDER / name)
    assert HOSTILE[name].get("must_refuse") or HOSTILE[name].get("may_refuse")
    assert str(refusal.value).endswith(".")


@pytest.mark.parametrize("name", READ)
def test_what_is_good_is_read_and_shown_without_harm_and_the_rest_has_a_reason(name: str) -> None:
    records = read(HOSTILE[name]["format"], FOLDER / name)
    count, expected = READ[name]
    assert len(posts(records)) == count >= HOSTILE[name]["shown_at_least"]
    assert len(reasons(records)) == len(expected)
    for reason, part in zip(reasons(records), expected, strict=True):
        assert part in reason
    html = "".join(to_html(post.text) for post in posts(records))
    assert [text for text in HOSTILE[name].get("never", ()) if text in html.replace("&lt;", "")] == []


def test_hostile_markup_shows_its_text() -> None:
    texts = [to_plain(post.text).strip() for post in posts(read("wordpress", FOLDER / "markup.xml"))]
    for number, word in enumerate(["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]):
        assert f"ok {word}" in texts[number]


def test_encodings_are_read_as_declared_and_bytes_that_are_no_text_are_replaced() -> None:
    texts = [post.text for name in ("utf-16.xml", "windows-1251.xml") for post in posts(read("disqus", FOLDER / name))]
    assert texts
    assert not any("\ufffd" in text for text in texts)
    texts = [post.text for post in posts(read("disqus", FOLDER / "wrong-encoding.xml"))]
    assert texts[3] == "It cost \ufffd12, caf\ufffd included."
    assert texts[4] == "Good comment number 5."


def test_a_time_has_10_to_40_characters() -> None:
    texts = ["2016-03-04", "2016-03-04".ljust(40), "2016-03-04".ljust(41), "2016-3-04"]
    assert [values.time_of(text) is not None for text in texts] == [True, True, False, False]


def test_unreadable_dates_are_none_and_others_are_left_to_the_writer() -> None:
    times = [post.created_at for post in posts(read("wordpress", FOLDER / "dates.xml"))]
    assert [time and time.year for time in times] == [2016, 1900, 1969, 2200, None, None, None, 9999, 2016]


def test_odd_values_of_json_become_good_ones() -> None:
    """Scores that are no numbers or too large, halves of surrogate pairs, NUL, and commenters who are not listed."""
    found = {post.source_id: post for post in posts(read("remark42", FOLDER / "lines.jsonl"))}
    assert [found[key].score for key in ("h1", "h7")] == [0, None]
    assert [found[key].text for key in ("h4", "h5")] == ["ab", "lone  half."]
    found = {post.source_id: post for post in posts(read("commento", FOLDER / "commento.json"))}
    assert [found[key].score for key in ("c1", "c5")] == [0, None]
    author = found["c4"].author
    assert (author.source_id, author.name, author.is_anonymous) == ("nobody", "", True)


CONTENTS = (b"", b"\n", b"\0" * 5000, b"\x1f\x8b", b"SQLite format 3\0", b"\xff\xfe", b"{")


@pytest.mark.parametrize("format", formats.FORMATS)
def test_a_file_of_nothing_or_of_anything_is_refused(tmp_path: Path, format: str) -> None:
    path = tmp_path / "file"
    of_another_format = SAMPLES / ("disqus.xml" if format == "wordpress" else "wordpress.xml")
    for content in (*CONTENTS, of_another_format.read_bytes()):
        path.write_bytes(content)
        with pytest.raises(UnreadableFile):
            read(format, path)
    for unfit in (tmp_path / "missing", tmp_path):
        with pytest.raises(UnreadableFile, match="cannot be opened"):
            read(format, unfit)


BEGINS = {
    "disqus": b"<disqus>",
    "wordpress": b"<rss><channel>",
    "remark42": b'{"version":1,"users":[],"posts":[]}\n',
    "commento": b'{"version":1,"comments":[',
    "comentario": b'{"version":3,"comments":[',
    "waline": b'{"type":"waline","version":1,"data":{"Comment":[',
    "twikoo": b"[",
    "artalk": b"[",
    "jsonl": b'{"type":"header","format":"community-messaging","version":1}\n',
}


@pytest.mark.parametrize("format", BEGINS)
def test_a_small_file_with_a_long_content_is_refused_before_it_is_read(tmp_path: Path, format: str) -> None:
    path = tmp_path / "file.gz"
    path.write_bytes(gzip.compress(BEGINS[format] + b" " * 20_000_000))
    pieces: list[int] = []
    with pytest.raises(UnreadableFile, match="more than 1 MB"):
        list(formats.read(format, path, content_max=1_000_000, on_progress=pieces.append))
    assert path.stat().st_size < 100_000
    assert len(pieces) <= 1_000_000 // PIECE


def test_a_database_whose_content_is_longer_than_allowed_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "isso.db"
    write("isso", path, megabytes=1, length=1_000)
    assert posts(list(formats.read("isso", path, content_max=1_000_000)))
    with pytest.raises(UnreadableFile, match="The content of the file"):
        list(formats.read("isso", path, content_max=500_000))


def test_a_large_file_of_another_kind_is_refused_at_its_first_piece(tmp_path: Path) -> None:
    path = tmp_path / "list.json"
    path.write_bytes(b"[" + b"0," * PIECE)
    with pytest.raises(UnreadableFile, match="no export of Commento"):
        list(formats.read("commento", path, content_max=PIECE))
