"""What a stream delivers: the rows of a channel, as items."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from kernel.changes.channels import Channel
from kernel.changes.rows import ChangeRow


class Loaded(Protocol):
    """What items need from other tables. `rows`: the rows that it was loaded for, all or the first ones."""

    @property
    def rows(self) -> Sequence[ChangeRow]: ...


class RenderItem(Protocol):
    def __call__(self, row: ChangeRow, loaded: Any, /, *, cursor: str) -> dict[str, Any] | None:
        """The item of a row; None if the reader does not get it."""


@dataclass(frozen=True, slots=True)
class Items:
    """How rows become the items that the list and the stream of the same changes have in common."""

    load: Callable[[Sequence[ChangeRow]], Loaded]
    render: RenderItem


@dataclass(frozen=True, slots=True)
class Source:
    """The source of a stream's events. Streams of equal sources get the same bytes.

    `bound_to` is what the cursors are signed with (`kernel.api.pagination.bound_to`).
    """

    items: Items
    channel: Channel
    bound_to: str
