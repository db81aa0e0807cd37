from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from messaging.models import Community


@pytest.fixture
def community() -> Community:
    from tests.factories import CommunityFactory

    return CommunityFactory()


@pytest.fixture
def bystander(tmp_path: Path) -> Iterator[None]:
    """An import into another community, of which nothing may change during the test."""
    from tests.factories import CommunityFactory
    from tests.moving.imports.importing import import_own, rows_of

    community = CommunityFactory(name="Bystander")
    by_ben = {"emoji": "👍", "createdAt": "2026-11-01T08:16:30Z", "author": {"id": "ben", "name": "Ben"}}
    import_own(tmp_path / "bystander.jsonl", community, {"id": "1", "reactions": [by_ben]}, {"id": "2"})
    before = rows_of(community)
    assert [len(rows) for rows in before if rows] == [1, 2, 1, 2, 2, 1]
    yield
    assert rows_of(community) == before
