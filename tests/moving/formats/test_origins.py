"""The small samples of Comentario, Waline, Twikoo, Artalk and Cusdis are read as they say."""

from __future__ import annotations

import gzip
import json
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from moving import formats
from moving.formats import Post, UnreadableFile
from tests.moving.files import FORMATS, ORIGINS, SAMPLES, posts, read, reasons

LETTERS, CHINESE = "https://lantern.example/letters/", "https://lantern.example/zh/磨坊桥/"
ROOM, MONDAYS, PAY = (
    "The **reading room** is full every Sunday.",
    "Then open it on Mondays too.",
    "Who would pay for that?",
)
# By sample: (the day of May 2023, the day of the post that it answers, address, state, name, mail, score, text).
READ: dict[str, list[tuple[Any, ...]]] = {
    "comentario": [
        (3, None, LETTERS, "published", "Maud Pettifer", "maud@lantern.example", 4, ROOM),
        (4, 3, LETTERS, "published", "Night owl", "", 0, MONDAYS),
        (5, 4, LETTERS, "pending", "Sam Okafor", "sam@one.example", 0, PAY),
        (6, None, LETTERS, "deleted", "Sam Okafor", "sam@two.example", 0, ""),
        (7, 6, LETTERS, "published", "Sam Okafor", "sam@two.example", -2, "I agree with what was here."),
        (8, None, CHINESE, "published", "王小明", "ming@lantern.example", 0, "从三月起封闭。"),
        (9, None, "/letters/", "published", "", "", 0, "No address, but a page."),
    ],
    "waline": [
        (3, None, "/letters/", "published", "Maud Pettifer", "maud@lantern.example", 4, ROOM),
        (4, 3, "/letters/", "published", "", "", None, MONDAYS),
        (5, 4, "/letters/", "pending", "Sam Okafor", "sam@one.example", None, PAY),
        (5, None, "/letters/", "spam", "Lamps", "lamps@spam.example", None, ""),
        (6, None, "/letters/", "published", "Sam Okafor", "sam@two.example", 2, "Imported from *elsewhere*."),
        (7, 6, "/letters/", "published", "Sam Okafor", "sam@two.example", None, "A parent without a root."),
        (8, None, "/zh/磨坊桥/", "published", "王小明", "ming@lantern.example", None, "从三月起封闭。"),
    ],
    "twikoo": [
        (
            3,
            None,
            "https://www.lantern.example/letters/",
            "published",
            "Maud Pettifer",
            "maud@lantern.example",
            4,
            ROOM,
        ),
        (4, 3, "https://www.lantern.example/letters/", "published", "", "", 0, MONDAYS),
        (5, None, "https://www.lantern.example/letters/", "spam", "Lamps", "lamps@spam.example", 0, ""),
        (6, 4, "/letters/", "published", "Sam Okafor", "sam@one.example", 0, f"Who would [pay](<{LETTERS}>) for that?"),
        (
            *(7, None, "https://www.lantern.example/letters/", "published"),
            *("Sam Okafor", "sam@two.example", 0, "Line one\nline two"),
        ),
        (8, None, CHINESE, "published", "王小明", "ming@lantern.example", 0, "从三月起封闭。"),
        (
            *(9, None, "https://lantern.example/guestbook.html", "published"),
            *("Maud Pettifer", "maud@lantern.example", 0, "A page with a name of its own."),
        ),
    ],
    "artalk": [
        (3, None, LETTERS, "published", "Maud Pettifer", "maud@lantern.example", 4, ROOM),
        (4, 3, LETTERS, "published", "", "", 0, MONDAYS),
        (5, 4, LETTERS, "pending", "Sam Okafor", "sam@one.example", 0, PAY),
        (6, None, LETTERS, "published", "Sam Okafor", "sam@two.example", 0, "Imported from *elsewhere*."),
        (8, None, CHINESE, "published", "王小明", "ming@lantern.example", -2, "从三月起封闭。"),
    ],
    "cusdis": [
        (3, None, LETTERS, "published", "Maud Pettifer", "maud@lantern.example", None, ROOM),
        (4, 3, LETTERS, "published", "Night owl", "", None, MONDAYS),
        (5, 4, LETTERS, "pending", "Sam Okafor", "sam@one.example", None, PAY),
        (6, None, LETTERS, "deleted", "Sam Okafor", "sam@two.example", None, ""),
        (7, 6, LETTERS, "published", "Sam Okafor", "sam@two.example", None, "I agree with what was here."),
        (8, None, "/zh/磨坊桥/", "published", "王小明", "ming@lantern.example", None, "从三月起封闭。"),
        (8, None, LETTERS, "withdrawn", "Maud", "", None, ""),
    ],
}
REASONS = {
    "comentario": ["A moderator has rejected the comment."],
    "waline": ["The state of the comment is not known."],
    "twikoo": [],
    "artalk": [],
    "cusdis": ["The page of the comment is not in the file."],
}
# Whether sites number their comments themselves, so that two have the same ids.
SITES = {"comentario": "", "waline": "/", "twikoo": "", "artalk": "https://lantern.example", "cusdis": ""}


def shown(found: Iterable[Post]) -> list[tuple[Any, ...]]:
    found = list(found)
    days = {post.source_id: post.created_at and post.created_at.day for post in found}
    return [
        (
            *(days[post.source_id], days.get(post.parent_id), post.address, post.state),
            *(post.author.name, post.author.email, post.score, post.text),
        )
        for post in found
    ]


@pytest.mark.parametrize("format", READ)
def test_each_comment_has_its_place_author_time_state_score_and_text(format: str) -> None:
    records = read(format, SAMPLES / ORIGINS[format])
    found = posts(records)
    assert shown(found) == READ[format]
    assert reasons(records) == REASONS[format]
    assert {f"{post.created_at:%Y-%m %H:%M}" for post in found} == {"2023-05 09:30"}
    assert {post.site for post in found} == {SITES[format]}
    assert len({post.source_id for post in found}) == len(found)


@pytest.mark.parametrize("format", READ)
def test_two_people_of_one_name_are_two_and_who_has_signed_in_has_the_id_of_a_user(format: str) -> None:
    found = posts(read(format, SAMPLES / ORIGINS[format]))
    assert len({post.author.source_id for post in found if post.author.name == "Sam Okafor"}) == 2
    signed_in = found[0].author.source_id.startswith("user:")
    assert signed_in == (format in {"comentario", "waline", "cusdis"})


def test_comentario_tells_when_a_comment_was_edited() -> None:
    edited = [
        post.edited_at and post.edited_at.day for post in posts(read("comentario", SAMPLES / "comentario.json.gz"))
    ]
    assert edited == [None, None, None, None, 8, None, None]


def test_twikoo_is_read_as_lines_too_with_ids_of_mongodb(tmp_path: Path) -> None:
    comments = json.loads((SAMPLES / "twikoo.json").read_text())
    path = tmp_path / "comment.json"
    lines = [json.dumps(comment | {"_id": {"$oid": comment["_id"]}}) for comment in comments]
    path.write_text("\n".join([lines[0], "{", *lines[1:]]))
    records = read("twikoo", path)
    assert posts(records) == posts(read("twikoo", SAMPLES / "twikoo.json"))
    assert reasons(records) == ["Line 2 is not read. It is no JSON object, or it is damaged."]


def test_a_database_of_cusdis_from_before_projects_were_deleted_is_read(tmp_path: Path) -> None:
    path = tmp_path / "cusdis.db"
    path.write_bytes((SAMPLES / "cusdis.db").read_bytes())
    with closing(sqlite3.connect(path)) as database:
        database.execute("ALTER TABLE projects DROP COLUMN deleted_at")
        database.commit()
    assert [post.state for post in posts(read("cusdis", path))][-1] == "published"
    with closing(sqlite3.connect(path)) as database:
        database.execute("ALTER TABLE comments DROP COLUMN by_nickname")
        database.commit()
    with pytest.raises(UnreadableFile, match="Its table `comments` has no column `by_nickname`"):
        read("cusdis", path)


@pytest.mark.parametrize(("name", "program"), [*FORMATS.items(), *((name, key) for key, name in ORIGINS.items())])
def test_the_program_that_has_written_a_file_is_recognised(name: str, program: str) -> None:
    assert formats.detect(SAMPLES / name) == program


def test_what_is_no_export_is_recognised_as_none(tmp_path: Path) -> None:
    for name in ("page.html", "list.json", "isso-other.db", "empty.xml", "version-9.jsonl"):
        assert formats.detect(SAMPLES / "hostile" / name) is None
    assert formats.detect(tmp_path / "missing") is None
    path = tmp_path / "small.gz"
    path.write_bytes(gzip.compress(b'{"version":1,"comments":[' + b" " * 2_000_000))
    assert formats.detect(path, content_max=1_000_000) is None


# By format: a part of the sample and what takes its place, and a part of the sentence that refuses the file.
OTHERS = {
    "comentario": ('"version":3', '"version":4', "version 4. Known is version 3."),
    "waline": ('"type": "waline"', '"type": "valine"', "no JSON object of type `waline`"),
    "twikoo": ('"url"', '"uri"', "no JSON array of comments with `_id` and `url`"),
    "artalk": ('"page_key"', '"page"', "no JSON array of comments with `page_key`"),
}


@pytest.mark.parametrize("format", OTHERS)
def test_an_export_of_another_version_or_program_is_refused(format: str, tmp_path: Path) -> None:
    content = (SAMPLES / ORIGINS[format]).read_bytes()
    if content[:2] == b"\x1f\x8b":
        content = gzip.decompress(content)
    old, new, sentence = OTHERS[format]
    assert old in content.decode()
    path = tmp_path / "export"
    path.write_text(content.decode().replace(old, new))
    with pytest.raises(UnreadableFile, match=sentence):
        read(format, path)


# Values that no program writes: each becomes a good one, or a row.
ODD: dict[str, list[dict[str, Any]]] = {
    "waline": [
        {"objectId": "5f3a", "comment": "text", "url": ["/"], "like": True, "insertedAt": {"iso": "2023"}, "mail": 7},
        {"comment": "no id", "url": "/"},
        {"objectId": 2, "url": "/", "status": 3, "user_id": {}, "nick": "\ud800", "like": 10**30},
    ],
    "twikoo": [
        {"_id": {"$oid": 7}, "comment": None, "url": 5, "href": 5, "created": "soon", "like": 5},
        {"_id": {}, "comment": "no id", "url": "/"},
        {"_id": "a", "url": "/", "href": "https://[", "created": 1e300, "pid": ["a"]},
    ],
    "artalk": [
        {"id": "1", "content": "text", "page_key": "/", "site_urls": "https://[", "rid": "1", "vote_up": "many"},
        {"content": "no id", "page_key": "/"},
        {"id": 3, "content": 5, "page_key": {}, "created_at": "2023-13-45 99:99:99 +9999", "is_pending": True},
    ],
    "comentario": [
        {"id": "a", "isApproved": True, "markdown": {}, "html": "<p>text</p>", "url": 5, "pageId": [], "score": "4"},
        {"markdown": "no id", "isApproved": True},
        {"id": 3, "isApproved": True, "isDeleted": "no", "userCreated": "nobody", "createdTime": 5, "editedTime": ""},
    ],
}


@pytest.mark.parametrize("format", ODD)
def test_odd_values_become_good_ones_or_a_row(format: str, tmp_path: Path) -> None:
    path, comments = tmp_path / "odd.json", ODD[format]
    needed = {"_id": "", "comment": "", "url": "", "created": "", "content": "", "id": "", "page_key": ""}
    documents = {
        "waline": {"type": "waline", "version": 1, "data": {"Users": [{"objectId": []}], "Comment": comments}},
        "comentario": {"version": 3, "pages": [5], "comments": comments, "commenters": [{"id": {}, "name": 5}]},
    }
    if format in {"twikoo", "artalk"}:
        documents[format] = [needed | comments[0], *comments[1:]]  # type: ignore[assignment]
    path.write_text(json.dumps(documents[format]))
    records = read(format, path)
    assert len(posts(records)) == 2
    assert reasons(records) == ["Comment 2 has no id."]
    assert {post.created_at for post in posts(records)} == {None}
    assert {post.author.email for post in posts(records)} == {""}
    assert {post.score for post in posts(records)} <= {None, 0}
