"""Files that are cut off, endless, deep or long: what is whole is read, in bounded memory."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from moving import formats
from moving.formats import records as spill
from moving.formats.json import STRUCTURE_MAX
from tests.moving.files import FORMATS, SAMPLES, TEXTS, posts, read, read_sample, reasons
from tests.moving.large_files import write
from tests.service import ROOT

MEGABYTE = 1 << 20
DISQUS = '<disqus xmlns:dsq="d"><thread dsq:id="1"><link>https://a.example/</link></thread>'
COMMENT = {"id": "1", "locator": {"url": "https://a.example/"}, "user": {"name": "A", "id": "a"}, "text": "<p>ok</p>"}
REMARK42 = '{"version":1,"users":[],"posts":[]}\n'
COMMENTO = {"commentHex": "1", "domain": "a.example", "url": "/", "markdown": "ok", "state": "approved"}


def post_xml(number: int, message: str = "ok", more: str = "") -> str:
    return f'<post dsq:id="{number}"><message>{message}</message>{more}<thread dsq:id="1"/></post>'


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("part", [0.3, 0.7, 0.99])
def test_of_a_cut_off_file_the_whole_comments_are_read_and_a_row_says_so(
    tmp_path: Path, name: str, part: float
) -> None:
    content = (SAMPLES / name).read_bytes()
    path = tmp_path / "cut"
    path.write_bytes(content[: int(part * len(content))])
    whole, cut = read_sample(name), read(FORMATS[name], path)
    assert [post.source_id for post in posts(cut)] == [post.source_id for post in posts(whole)][: len(posts(cut))]
    assert len(posts(cut)) > (part - 0.25) * len(posts(whole))
    assert len(reasons(cut)) == 1


@pytest.mark.parametrize("name", TEXTS)
def test_a_compressed_file_is_read_as_the_file_and_to_where_it_is_cut_off(tmp_path: Path, name: str) -> None:
    content = gzip.compress((SAMPLES / name).read_bytes())
    path = tmp_path / "compressed"
    path.write_bytes(content)
    assert read(FORMATS[name], path) == read_sample(name)
    path.write_bytes(content[: len(content) // 2])
    records = read(FORMATS[name], path)
    assert posts(records)
    assert reasons(records)[-1].startswith("The compressed file is cut off or damaged")


@pytest.mark.parametrize("name", TEXTS)
def test_damaged_bytes_anywhere_raise_no_error(tmp_path: Path, name: str) -> None:
    content = bytearray((SAMPLES / name).read_bytes())
    path = tmp_path / "damaged"
    for position in range(2000, len(content), len(content) // 5):
        damaged = content.copy()
        damaged[position : position + 40] = b'\0<"\xff]]>{[\\&x;\r\n' * 3
        path.write_bytes(damaged)
        assert read(FORMATS[name], path)


FORBIDDEN = "a\x08b\x00c"
# By name: the text of a Disqus file, the posts (id, text, state) and the reasons.
SMALL: dict[str, tuple[str, list[tuple[str, str, str]], list[str]]] = {
    "the row of a cut-off file names the line": (
        f"{DISQUS}\n{post_xml(1)}\n<post",
        [("1", "ok", "published")],
        ["The XML is cut off or damaged: unclosed token, in line 3, column 0. What follows is not read."],
    ),
    "characters that XML forbids and lines before it are left out": (
        f'\n\n<?xml version="1.0"?>{DISQUS}{post_xml(1, FORBIDDEN)}</disqus>',
        [("1", "abc", "published")],
        [],
    ),
    "a post without an id or a known thread is a row": (
        f'{DISQUS}<post><message>a</message></post><post dsq:id="2"><thread dsq:id="9"/></post>{post_xml(3)}</disqus>',
        [("3", "ok", "published")],
        ["A post has no id.", "The post names no thread that comes before it in the file."],
    ),
    "posts that await approval of Disqus are pending": (
        f"{DISQUS}{post_xml(1, more='<isApproved>false</isApproved>')}</disqus>",
        [("1", "ok", "pending")],
        [],
    ),
}


def test_the_row_of_a_cut_off_file_of_commento_names_the_comment(tmp_path: Path) -> None:
    path = tmp_path / "cut.json"
    path.write_text('{"version":1,"commenters":[],"comments":[' + f"{json.dumps(COMMENTO)}," * 2 + "{")
    assert reasons(read("commento", path)) == [
        "The JSON is cut off or damaged after comment 2. What follows is not read."
    ]


@pytest.mark.parametrize("name", SMALL)
def test_a_damaged_file_is_read_as_far_as_it_can_be(tmp_path: Path, name: str) -> None:
    text, expected, said = SMALL[name]
    path = tmp_path / "export.xml"
    path.write_text(text)
    records = read("disqus", path)
    assert [(post.source_id, post.text, post.state) for post in posts(records)] == expected
    assert reasons(records) == said


def xml_parts(middle: Iterator[str]) -> Iterator[str]:
    yield DISQUS + post_xml(1)
    yield from middle
    yield post_xml(2) + "</disqus>"


def repeated(text: str, megabytes: int) -> Iterator[str]:
    for _ in range(megabytes):
        yield text * (MEGABYTE // len(text))


def many(text: str) -> str:
    """Twice as long as the reader allows a structure to be."""
    return text * (2 * STRUCTURE_MAX // len(text))


# By name: the format, the parts of the file, the ids that are read, and a part of the reason.
ENDLESS: dict[str, tuple[str, Any, list[str], str]] = {
    "a text of 10 MB": (
        "disqus",
        lambda: xml_parts(iter([post_xml(3, "a " * 5 * MEGABYTE)])),
        ["1", "3", "2"],
        "",
    ),
    "a text of 20 MB": (
        "disqus",
        lambda: xml_parts(
            iter(['<post dsq:id="3"><thread dsq:id="1"/><message>', *repeated("a ", 20), "</message></post>"])
        ),
        ["1", "2"],
        "longer than 16 MB",
    ),
    "a tag without an end": ("disqus", lambda: xml_parts(repeated('<a b="', 20)), ["1"], ""),
    "an attribute without an end": (
        "disqus",
        lambda: xml_parts(iter(['<a b="', *repeated("aaaaaaa ", 20)])),
        ["1"],
        "does not end",
    ),
    "a comment without an end": ("disqus", lambda: xml_parts(iter(["<!--", *repeated("a", 20)])), ["1"], "not end"),
    "a million levels of elements": ("disqus", lambda: xml_parts(repeated("<a>", 3)), ["1"], "more than 100 elements"),
    "many attributes": (
        "disqus",
        lambda: xml_parts(iter(["<a ", *(f'a{number}="" ' for number in range(900_000)), "/>"])),
        ["1"],
        "does not end",
    ),
    "a line of 20 MB": (
        "remark42",
        lambda: iter(
            [REMARK42, json.dumps(COMMENT), "\n", *repeated("a", 20), "\n", json.dumps(COMMENT | {"id": "2"})]
        ),
        ["1", "2"],
        "longer than 16 MB",
    ),
    "a line of many brackets": (
        "remark42",
        lambda: iter([REMARK42, *repeated("[", 10), "\n", *repeated("[],", 10), "\n", json.dumps(COMMENT)]),
        ["1"],
        "It has too many parts.",
    ),
    "a line of a text of 10 MB": (
        "remark42",
        lambda: iter([REMARK42, json.dumps(COMMENT | {"orig": "[a] " * 2_500_000})]),
        ["1"],
        "",
    ),
    "an element of 20 MB": (
        "commento",
        lambda: iter(
            [
                '{"version":1,"comments":[{"markdown":"',
                *repeated('\\"aaaaaaaaaaaaaaaa', 20),
                '"},',
                json.dumps(COMMENTO),
                '],"commenters":[]}',
            ]
        ),
        ["1"],
        "longer than 16 MB",
    ),
    "an element of many brackets": (
        "commento",
        lambda: iter(['{"version":1,"comments":[', json.dumps(COMMENTO), ",{", many('"a":[[[]]],'), '"b":1}],"x":[]}']),
        ["1"],
        "It has too many parts.",
    ),
    "a long outline": (
        "commento",
        lambda: iter(['{"version":1,"comments":[', json.dumps(COMMENTO), "]", many(',"a":"b"'), "}"]),
        ["1"],
        "",
    ),
}


@pytest.mark.parametrize("name", ENDLESS)
def test_what_is_endless_is_left_out_and_the_rest_is_read_in_bounded_memory(tmp_path: Path, name: str) -> None:
    format_name, parts, expected, reason = ENDLESS[name]
    path = tmp_path / "endless"
    with path.open("w") as file:
        file.writelines(parts())
    records = read(format_name, path)
    assert [post.source_id for post in posts(records)] == expected
    assert all(len(post.text) < 2 * MEGABYTE or name.endswith("10 MB") for post in posts(records))
    assert not reason or any(reason in each for each in reasons(records))


@pytest.mark.slow
@pytest.mark.processes
@pytest.mark.parametrize(
    "format_name",
    ["disqus", "wordpress", "remark42", "commento", "comentario", "waline", "twikoo", "artalk", "isso", "cusdis"],
)
def test_a_large_file_is_read_in_the_memory_of_a_small_one(tmp_path: Path, format_name: str) -> None:
    path = tmp_path / "large"
    write(format_name, path, megabytes=30, length=20_000)
    command = [sys.executable, "-m", "tests.moving.large_files", "read", format_name, str(path)]
    output = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    measured = json.loads(output)
    assert measured["posts"] > 1000
    assert measured["unusable"] == 0
    assert measured["peak"] < measured["before"] + 30


def test_levels_of_replies_are_read_as_any(tmp_path: Path) -> None:
    path = tmp_path / "deep.jsonl"
    with path.open("w") as file:
        file.write(REMARK42)
        for number in range(5_000):
            file.write(json.dumps(COMMENT | {"id": f"{number}", "pid": f"{number - 1}"}) + "\n")
    assert sum(1 for _record in formats.read("remark42", path)) == 5_000


def test_a_map_has_the_first_value_of_each_key_also_when_it_becomes_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spill, "MEMORY_MAX", 2)
    entries = spill.SpillingMap()
    for key, value in (("a", "1"), ("b", "2"), ("a", "3")):
        entries.add(key, value)
    assert entries.large is None
    for key, value in (("c", "4"), ("c", "5"), ("b", "6")):
        entries.add(key, value)
    assert entries.large is not None
    assert [entries.get(key) for key in "abcd"] == ["1", "2", "4", None]
    entries.close()
