"""Reads our own exports, JSON Lines of `docs/export-schema.md`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, Literal, cast

import orjson

from messaging.accounts.deleted import HEIR_HANDLES, NOBODY
from moving.formats.json import STRINGS, TOO_LONG, Line, lines
from moving.formats.records import Author, CutOff, Post, Reactions, Record, Source, UnreadableFile, Unusable, identifier
from moving.own_format import FORMAT, VERSION

KNOWN_VERSIONS = (VERSION,)
STATES: dict[Any, Literal["published", "pending", "deleted"]] = {
    "published": "published",
    "pending": "pending",
    "deleted": "deleted",
}
ID_MAX = 200
# Of the structure of a line, which is what is outside of strings: values take many times its size in memory. The
# payload of a post may have 64 KB, most of which may be numbers.
STRUCTURE_MAX = 512 << 10
SCORE_MAX = 2**31 - 1
# Of one post.
REACTIONS_MAX = 50_000
TOO_MANY = f"Only the first {REACTIONS_MAX:,} reactions of a post are taken."


class BadLine(Exception):
    """The message is the reason for the report."""


def read(source: Source) -> Iterator[Record]:
    """Raises UnreadableFile for a file that is no such export, or of a version that is not known."""
    numbered = _lines(source)
    _check_header(next(numbered, None))
    post: Post | None = None
    taken, has_end = 0, False
    for line in numbered:
        values: dict[str, Any] = {}
        try:
            values = _object(line)
            kind = values.get("type")
            if kind == "post":
                yield (post := _post(values))
                taken = 0
            if kind in ("post", "reactions"):
                reactions = _reactions(values, post)
                if first := reactions[: REACTIONS_MAX - taken]:
                    yield Reactions(first)
                taken += len(first)
                if len(first) < len(reactions):
                    yield Unusable("", "", f"Line {line.number}: {TOO_MANY}")
        except BadLine as problem:
            yield Unusable(identifier(values.get("id")), "", f"Line {line.number}: {problem}")
            continue
        has_end = kind == "end"
    if not has_end:
        yield Unusable("", "", "The file was cut off: its last line is missing.")


def _lines(source: Source) -> Iterator[Line]:
    """A compressed file that is cut off ends like one without its last line."""
    with suppress(CutOff):
        yield from lines(source)


def _check_header(line: Line | None) -> None:
    try:
        header = _object(line) if line else {}
    except BadLine:
        header = {}
    if header.get("type") != "header" or header.get("format") != FORMAT:
        raise UnreadableFile("The file is no export of this service: its first line is not the header of one.")
    if header.get("version") not in KNOWN_VERSIONS or isinstance(header["version"], bool):
        known = ", ".join(map(str, KNOWN_VERSIONS))
        raise UnreadableFile(f"The export has the version {header.get('version')!r}. Known versions: {known}.")


def _object(line: Line) -> dict[str, Any]:
    if line.content is None:
        raise BadLine(TOO_LONG)
    if len(line.content) > STRUCTURE_MAX and len(STRINGS.sub(b"", line.content)) > STRUCTURE_MAX:
        raise BadLine("It has too many parts.")
    try:
        values = orjson.loads(line.content)
    except orjson.JSONDecodeError:
        raise BadLine("It is no JSON, or it is damaged.") from None
    if not isinstance(values, dict):
        raise BadLine("It is no JSON object.")
    # PostgreSQL stores no NUL.
    return cast(dict[str, Any], _without_nul(values) if b"\\u0000" in line.content else values)


def _without_nul(value: Any) -> Any:
    if isinstance(value, str):
        return value.replace("\0", "")
    if isinstance(value, list):
        return [_without_nul(member) for member in value]
    if isinstance(value, dict):
        return {_without_nul(name): _without_nul(member) for name, member in value.items()}
    return value


def _reactions(values: dict[str, Any], post: Post | None) -> list[Any]:
    """Those of the line of a post, or of a further line. `post`: the last one."""
    if values["type"] == "reactions" and (post is None or values.get("postId") != post.source_id):
        raise BadLine("Its reactions do not belong to the post before it.")
    return _list(values, "reactions")


def _post(values: dict[str, Any]) -> Post:
    state = STATES.get(values.get("status") if isinstance(values.get("status"), str) else None)
    if state is None:
        raise BadLine(f"A post needs a status out of {', '.join(STATES)}.")
    return Post(
        source_id=_text(values, "id", most=ID_MAX),
        parent_id=_optional_text(values, "parentId", most=ID_MAX),
        address=_text(values, "pageUrl"),
        author=author_of(values.get("author")),
        created_at=time_of(values.get("createdAt")),
        thread_created_at=None,
        edited_at=time_of(values.get("editedAt")),
        text=_optional_text(values, "content"),
        state=state,
        score=_score(values.get("importedScore")),
        extra=values,
    )


def author_of(value: Any) -> Author:
    """The author of a post or of a reaction. Raises an error for the report of the line."""
    if not isinstance(value, dict):
        raise BadLine("It names no author.")
    author_id = _text(value, "id", most=ID_MAX)
    if author_id == str(NOBODY):
        # The accounts that the posts of erased people belong to are one for people and one for agents.
        author_id = HEIR_HANDLES.get(str(value.get("kind")), HEIR_HANDLES["human"])
    return Author(author_id, _optional_text(value, "name"), email="", email_verified=False, is_anonymous=False)


def time_of(value: Any) -> datetime | None:
    """An aware time, None where it is missing or unreadable."""
    if not isinstance(value, str):
        return None
    try:
        time = datetime.fromisoformat(value)
        return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _text(values: dict[str, Any], name: str, *, most: int | None = None) -> str:
    text = _optional_text(values, name, most=most)
    if not text:
        raise BadLine(f"It has no {name}.")
    return text


def _optional_text(values: dict[str, Any], name: str, *, most: int | None = None) -> str:
    text = values.get(name)
    if text is None:
        return ""
    if not isinstance(text, str) or (most is not None and len(text) > most):
        raise BadLine(f"Its {name} is no text" + (f" of at most {most} characters." if most else "."))
    return text


def _list(values: dict[str, Any], name: str) -> list[Any]:
    members = values.get(name)
    return members if isinstance(members, list) else []


def _score(value: Any) -> int | None:
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return value if is_number and abs(value) <= SCORE_MAX else None
