"""The database of the ORM's statements: that of the written ones (`kernel.database.sql.statements_on`)."""

from __future__ import annotations

from typing import Any

from django.db import DEFAULT_DB_ALIAS

from kernel.database.sql import current_alias


class StandbyRouter:
    """Rows that were read on a standby are changed on the primary."""

    def db_for_read(self, model: Any, **_hints: Any) -> str:
        return current_alias()

    def db_for_write(self, model: Any, **_hints: Any) -> str:
        return DEFAULT_DB_ALIAS

    def allow_relation(self, first: Any, second: Any, **_hints: Any) -> bool:
        return True
