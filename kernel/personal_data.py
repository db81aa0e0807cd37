"""What the functions of PERSON_EXPORTERS and PERSON_ERASERS (`config.extension_points`) return and take."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from uuid import UUID

from django.db.models import QuerySet


@dataclass(frozen=True)
class Section:
    """A file of an export: `name` without suffix, and its records, which are read while the file is written.

    `about` describes the records in one English sentence. `rows` are counted, for the progress; None is one row.
    """

    name: str
    about: str
    rows: QuerySet[Any, Any] | None
    records: Iterable[Mapping[str, Any]]

    @cached_property
    def count(self) -> int:
        return 1 if self.rows is None else self.rows.count()

    def count_up_to(self, limit: int) -> int:
        return 1 if self.rows is None else self.rows.order_by().values("pk")[:limit].count()


@dataclass(frozen=True, slots=True)
class Subject:
    """Who is erased: the account of the person first, then those of the agents that the person operates.

    `delete_posts`: whether the posts are deleted; otherwise they stay, as of a deleted account. `handles` are those of
    the accounts. `heirs` are the accounts that rows which must stay refer to instead, by the kind of the account.
    """

    account_ids: tuple[UUID, ...]
    handles: tuple[str, ...]
    heirs: Mapping[str, UUID]
    delete_posts: bool

    @property
    def person_id(self) -> UUID:
        return self.account_ids[0]

    @property
    def mentions(self) -> str:
        """A regular expression of PostgreSQL for `@` and one of the handles, in either case."""
        return rf"(?i)@({self.any_handle})\y"

    @property
    def any_handle(self) -> str:
        return "|".join(map(re.escape, self.handles))

    @property
    def heir_id(self) -> UUID:
        """The account that what the person decided is attributed to."""
        return self.heirs["human"]
