"""What the functions of PERSON_EXPORTERS and PERSON_ERASERS (`config.extension_points`) return and take."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Section:
    """A file of an export: `name` without suffix, and its records, which are read while the file is written.

    `about` describes the records in one English sentence. `count` is their number, for the progress.
    """

    name: str
    about: str
    count: int
    records: Iterable[Mapping[str, Any]]


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
    def heir_id(self) -> UUID:
        """The account that what the person decided is attributed to."""
        return self.heirs["human"]
