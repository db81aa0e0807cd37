"""The reader of our own exports: damage is a row of the report, a file of another kind or version is refused."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from moving.formats import Post, Reactions, UnreadableFile, Unusable, own, read

HEADER = {"type": "header", "format": "community-messaging", "version": 1}
AUTHOR = {"id": "a1", "name": "Ada", "handle": "ada", "kind": "human"}
POST = {
    "type": "post",
    "id": "p1",
    "pageUrl": "https://lantern.example/",
    "author": AUTHOR,
    "status": "published",
    "content": "Well said.",
    "createdAt": "2026-11-01T08:15:30.123456Z",
}
END = {"type": "end", "posts": 1, "reactions": 0}


def found(folder: Path, *lines: Any, name: str = "export.jsonl") -> list[Any]:
    texts = [line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines]
    file = folder / name
    file.write_bytes(b"\n".join(texts) + b"\n")
    return list(read("jsonl", file))


def test_a_post_has_its_fields(tmp_path: Path) -> None:
    (post,) = found(tmp_path, HEADER, POST, END)
    assert isinstance(post, Post)
    assert (post.source_id, post.parent_id, post.address, post.text) == ("p1", "", POST["pageUrl"], "Well said.")
    assert (post.state, post.score, post.edited_at, post.author.source_id) == ("published", None, None, "a1")
    assert post.created_at is not None
    assert post.created_at.isoformat() == "2026-11-01T08:15:30.123456+00:00"
    assert post.extra["author"] == AUTHOR


def test_a_file_of_another_kind_or_version_is_refused(tmp_path: Path) -> None:
    others = ({**HEADER, "format": "other"}, {"version": "remark42"})
    for first in (b"", b"{", b"[]", b"<html>", POST, *others, b"\xff\xfe\x00"):
        with pytest.raises(UnreadableFile, match="no export of this service"):
            found(tmp_path, first, POST, END)
    for version in (0, 2, 9, "1", None, True, 1.5, [1]):
        with pytest.raises(UnreadableFile, match="Known versions: 1"):
            found(tmp_path, {**HEADER, "version": version}, POST, END)


@pytest.mark.parametrize(
    "line",
    [
        *(b"{", b"[1]", b"null", b'"text"', b'{"type": "post"', b"\xff\xff", b"[" * 5_000),
        *({**POST, "id": value} for value in (None, "", 1, [], "x" * 201)),
        *({**POST, "pageUrl": value} for value in (None, "", ["https://lantern.example/"], 1)),
        *({**POST, "author": value} for value in (None, "Ada", [], {}, {**AUTHOR, "id": 1}, {**AUTHOR, "name": 1})),
        *({**POST, "status": value} for value in (None, "hidden", [], 1)),
        *({**POST, "content": 1}, {**POST, "parentId": 1}),
        {"type": "reactions", "postId": "other", "reactions": []},
        b'{"type": "post", "list": [' + b"[]," * 300_000 + b"0]}",
        b'"' + b"x" * (17 << 20) + b'"',
    ],
    ids=lambda line: str(line)[:40],
)
def test_a_bad_line_is_a_row_and_the_others_are_read(tmp_path: Path, line: Any) -> None:
    other = {**POST, "id": "p2"}
    first, problem, second = sorted(found(tmp_path, HEADER, POST, line, other, END), key=_order)
    assert isinstance(problem, Unusable)
    assert problem.reason.startswith("Line 3: ")
    assert (first.source_id, second.source_id) == ("p1", "p2")


def _order(record: Any) -> str:
    return "p1x" if isinstance(record, Unusable) else record.source_id


def test_values_that_cannot_be_read_are_none_and_unknown_ones_ignored(tmp_path: Path) -> None:
    times = [None, "", "yesterday", "2026-02-30T00:00:00Z", 5, [], "9999-12-31T23:59:59-10:00"]
    scores = [2**31, -(2**31), 10**30, 1.5, True, "5", []]
    odd = [
        {"createdAt": time, "editedAt": time, "importedScore": score} for time, score in zip(times, scores, strict=True)
    ]
    posts = [{**POST, "id": f"p{number}", "later": 1, **values} for number, values in enumerate(odd)]
    found_posts = found(tmp_path, HEADER, {"type": "later"}, *posts, {"type": ["odd"]}, END)
    assert [post.source_id for post in found_posts] == [post["id"] for post in posts]
    assert {(post.created_at, post.edited_at, post.score) for post in found_posts} == {(None, None, None)}
    # A NUL is removed everywhere.
    (post,) = found(tmp_path, HEADER, {**POST, "content": "a\0b", "payload": {"\0k": ["\0"]}}, END)
    assert (post.text, post.extra["payload"]) == ("ab", {"k": [""]})


def test_further_reactions_belong_to_the_post_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reaction = {"emoji": "👍", "createdAt": POST["createdAt"], "author": AUTHOR}
    further = {"type": "reactions", "postId": "p1", "reactions": [reaction, reaction]}
    lines = (HEADER, {**POST, "reactions": [reaction]}, further, END)
    _post, first, second = found(tmp_path, *lines)
    assert (first, second) == (Reactions([reaction]), Reactions([reaction, reaction]))
    monkeypatch.setattr(own, "REACTIONS_MAX", 3)
    assert found(tmp_path, *lines)[1:] == [first, second]
    monkeypatch.setattr(own, "REACTIONS_MAX", 2)
    *reactions, problem = found(tmp_path, *lines)[1:]
    assert reactions == [first, first]
    assert "Only the first" in problem.reason


def test_a_file_without_its_end_is_reported_as_cut_off(tmp_path: Path) -> None:
    post, problem = found(tmp_path, HEADER, POST)
    assert post.source_id == "p1"
    assert "cut off" in problem.reason


def test_a_compressed_file_that_is_cut_off_has_its_whole_posts(tmp_path: Path) -> None:
    lines = [HEADER, *({**POST, "id": f"p{number}", "content": str(number) * 50} for number in range(5_000)), END]
    packed = gzip.compress(b"".join(json.dumps(line).encode() + b"\n" for line in lines))
    file = tmp_path / "export.jsonl.gz"
    file.write_bytes(packed[: len(packed) // 2])
    *posts, problem = read("jsonl", file)
    assert isinstance(problem, Unusable)
    assert 0 < len(posts) < 5_000
    assert all(isinstance(post, Post) for post in posts)


def test_the_posts_of_erased_people_have_one_author_of_each_kind(tmp_path: Path) -> None:
    nobody = {"id": "00000000-0000-0000-0000-000000000000", "name": "Deleted", "handle": "deleted"}
    first = {**POST, "author": {**nobody, "kind": "human"}}
    second = {**POST, "id": "p2", "author": {**nobody, "kind": "agent"}}
    posts = found(tmp_path, HEADER, first, second, END)
    assert [post.author.source_id for post in posts] == ["deleted-human", "deleted-agent"]
