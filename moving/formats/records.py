"""What the readers of foreign exports yield: posts, and rows that say what cannot be taken."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

State = Literal["published", "pending", "spam", "deleted", "withdrawn", "pingback"]


@dataclass(frozen=True, slots=True)
class Author:
    """Who wrote a post in the foreign system.

    `source_id` is never empty and the same for each post of one author of a file: the id of a user whom the foreign
    system has signed in, else a digest of the mail address and the name, else of the name (`values.author_of`).
    `email` is lower-cased and syntactically valid, or "".
    `email_verified` says that the foreign system verified the address.
    """

    source_id: str
    name: str
    email: str
    email_verified: bool
    is_anonymous: bool


@dataclass(frozen=True, slots=True)
class Post:
    """A comment of the foreign system.

    `parent_id` is "" for a top-level post. `address` is as written there, unescaped. Times are aware, None where
    missing or unreadable. The local ones are naive: by a clock of the site, whose offset the file does not name.
    `text` is Markdown of `messaging.markdown`, of any length, without NUL. `extra` is the whole object of a line of our
    own export, else empty; its reactions follow as records. `site` is the address of the site where ids are numbers
    that other sites have too, "/" where that is not known, and "" where ids are unique everywhere. `identifier` and
    `title` are those of the thread, for one whose `address` is none.
    """

    source_id: str
    parent_id: str
    address: str
    author: Author
    created_at: datetime | None
    thread_created_at: datetime | None
    edited_at: datetime | None
    text: str
    state: State
    score: int | None
    extra: Mapping[str, Any] = field(default_factory=dict)
    site: str = ""
    identifier: str = ""
    title: str = ""
    created_local: datetime | None = None
    thread_created_local: datetime | None = None


@dataclass(frozen=True, slots=True)
class Reactions:
    """Some of the reactions to the post before, as a line of our own export has them. A post may have several."""

    values: list[Any]


@dataclass(frozen=True, slots=True)
class Unusable:
    """A part of the file that cannot be taken. `reason` is one plain sentence for the report."""

    source_id: str
    address: str
    reason: str


Record = Post | Reactions | Unusable


class UnreadableFile(Exception):
    """The whole file is refused. The message is for the user: what the file is, and what is known."""


class ContentTooLarge(UnreadableFile):
    """A small compressed file may have any content, and so may a database whose rows share their pages."""

    def __init__(self, most: int) -> None:
        super().__init__(
            f"The content of the file has more than {most / 1_000_000:,.0f} MB. Divide it, or ask the operator to "
            "import it with `manage.py import_posts`, which takes any size."
        )
