"""A row for each post, for spreadsheets."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator
from typing import Any

from kernel.csv_cells import neutral_cell
from moving.exports.reading import ExportedPost, Reader

COLUMNS = (
    *("id", "parent_id", "page_url", "author_id", "author_name", "author_handle", "author_kind", "status"),
    *("created_at", "edited_at", "content", "tag_type", "anchor_text", "imported_score", "reaction_count", "reactions"),
)
# Spreadsheets take a file without it for one in the encoding of the system.
BYTE_ORDER_MARK = "\ufeff".encode()


class _Line:
    """The file of a `csv.writer`, which returns what this does."""

    def write(self, text: str) -> bytes:
        return text.encode()


def write(reader: Reader) -> Iterator[bytes]:
    writer: Any = csv.writer(_Line())
    yield BYTE_ORDER_MARK + writer.writerow(COLUMNS)
    for post in reader.posts():
        yield writer.writerow([neutral_cell(value) for value in _values(post)])


def _values(post: ExportedPost) -> Iterator[Any]:
    message = post.message
    author = message["author"]
    yield from (message["id"], message["parentId"], message["pageUrl"])
    yield from (author["id"], author["name"], author["handle"], author["kind"], message["status"])
    yield from (_time(message["createdAt"]), _time(message["editedAt"]), message["content"])
    # The score is null in posts that were not imported.
    yield from (message["tagType"], message["anchorText"], message.get("importedScore"), message["reactionTotal"])
    yield "; ".join(f"{emoji} {number}" for emoji, number in _counts(post).most_common())


def _counts(post: ExportedPost) -> Counter[str]:
    return Counter(reaction["emoji"] for part in post.reactions for reaction in part)


def _time(at: Any) -> str | None:
    return None if at is None else at.isoformat()
