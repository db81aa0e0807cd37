"""What a decision from a list asks of the list's admin."""

from __future__ import annotations

from typing import Any

from kernel.admin.actions import AdminAction
from messaging.moderation.lists.many import ManyRowsAdmin


class DecidableRows(ManyRowsAdmin):
    def state_of(self, row: Any) -> tuple[str, str]:
        """The text and the kind of the badge of a row."""
        raise NotImplementedError

    def name_of(self, row: Any) -> str:
        """What the bar calls the row."""
        return str(row)

    def instead(self, row: Any, action: AdminAction) -> tuple[str, str] | None:
        """A link (text, URL) that is offered when an action is refused."""
        return None
