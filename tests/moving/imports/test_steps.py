"""Each batch of each step is told: a run renews its lease then."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from messaging.models import Community, Message
from moving.imports import announcing, missing_quotes, quotes, undoing
from moving.imports.progress import ProgressLines, Step
from moving.models import Move
from tests.moving.imports.importing import import_own

pytestmark = pytest.mark.django_db


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[Step]:
    """The steps of the command, whose batches have one row."""
    steps: list[Step] = []
    for module in (announcing, quotes, undoing):
        monkeypatch.setattr(module, "BATCH", 1)
    monkeypatch.setattr(missing_quotes, "LOOKED_UP", 1)
    monkeypatch.setattr("moving.management.commands.import_posts.ProgressLines", lambda _write: steps.append)
    return steps


def post(key: str, **fields: Any) -> dict[str, Any]:
    """On a page of its own, by an author of its own."""
    author = {"id": key, "name": key, "handle": key, "kind": "human"}
    return {"id": key, "pageUrl": f"https://lantern.example/{key}/", "author": author, **fields}


def test_each_batch_of_quotes_and_of_announced_pages_is_told(
    community: Community, tmp_path: Path, told: list[Step]
) -> None:
    posts = [post("a"), post("b", quoteId="a"), post("c", quoteId="a"), post("d")]
    import_own(tmp_path / "own.jsonl", community, *posts)
    of_quotes, of_pages = [Step("ending", 2, 4), Step("ending", 3, 4)], [Step("ending", 4, 4)] * 4
    assert [step for step in told if step.name == "ending"] == [*of_quotes, *of_pages]


def test_each_batch_of_missing_quotes_is_told(community: Community, tmp_path: Path, told: list[Step]) -> None:
    import_own(tmp_path / "complete.jsonl", community, post("a"), post("b"))
    without = told.count(Step("ordering", 0, 2))
    told.clear()
    import_own(tmp_path / "part.jsonl", community, post("c", quoteId="x"), post("d", quoteId="y"))
    looked_up = reported = 2
    assert told.count(Step("ordering", 0, 2)) == without + looked_up + reported


def test_each_batch_of_authors_and_pages_of_a_removed_import_is_told(
    community: Community, tmp_path: Path, told: list[Step]
) -> None:
    import_own(tmp_path / "own.jsonl", community, post("a"), post("b"), post("c"))
    undoing.begin_undo(move := Move.objects.get(), by=None)
    told.clear()
    undoing.undo(move, tell=told.append)
    of_posts, of_authors, of_pages = [Step("undoing", number, 3) for number in (1, 2, 3)], 3, 3
    assert told == [*of_posts, *[Step("undoing", 3, 3)] * (of_authors + of_pages)]
    assert not Message.objects.exists()


def test_the_end_of_a_step_is_printed_once() -> None:
    lines: list[str] = []
    tell = ProgressLines(lines.append)
    for _batch in range(3):
        tell(Step("ending", 4, 4))
    assert len(lines) == 1
