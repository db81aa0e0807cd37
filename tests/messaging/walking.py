"""The pages of a list, by its cursors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.api import Answer, Api


def pages_of(path: str, *, by: Api | None = None, **query: Any) -> Iterator[Answer]:
    more = True
    while more:
        answer = (by or Api()).get(path, **query)
        assert answer.status == 200, answer.json
        yield answer
        more, query["cursor"] = answer.json["hasMore"], answer.json["nextCursor"]
        assert more == (query["cursor"] is not None)


def ids_of(path: str, **query: Any) -> list[str]:
    """The ids of the messages of all pages."""
    return [message["id"] for page in pages_of(path, **query) for message in page.json["messages"]]
