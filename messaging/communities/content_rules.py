"""Rules that a message must pass before it is stored: the objects named in `CONTENT_RULES`.

Another app adds a rule by its dotted path, so messaging does not import that app. `prepare` runs before the community
is checked; it may set the community or refuse the embed. `columns` are what the rule has the query of the community
read for it. `check` runs just before the rate limits are charged; it may refuse the text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple, Protocol
from uuid import UUID

from django.conf import settings
from django.utils.module_loading import import_string

from kernel.api.exceptions import ApiError
from messaging.markdown.reading import as_read
from messaging.models import Community
from messaging.posts.exceptions import ContentBlocked
from messaging.posts.message_fields import BODY_FIELDS, CONTENT_FIELDS
from messaging.smart_tags import is_open
from messaging.word_lists import compile_words

DEFAULTS = {field.column: field.model_field.get_default() for field in BODY_FIELDS}
WORD_LIST_COLUMNS = [field.column for field in CONTENT_FIELDS if field.has_word_lists]


@dataclass(slots=True)
class Draft:
    """A message before it is stored.

    `data` is the validated body by column; absent columns get the defaults of the model. `embed_id` is the raw
    `x-service-embed-id` header, `origin` the Origin header. The rules set `source_embed`, and `community_id` for an
    embed with a community. `community` was read with `community_columns`.
    """

    data: dict[str, Any]
    author_kind: str
    embed_id: str | None = None
    origin: str | None = None

    community_id: UUID | None = field(init=False)
    source_embed: UUID | None = field(init=False, default=None)
    community: Community | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.data = DEFAULTS | self.data
        self.community_id = self.data["community_id"]

    def texts(self) -> Iterator[str]:
        """The strings to which word lists apply."""
        for column in WORD_LIST_COLUMNS:
            with_names = column == "payload" and is_open(self.data["tag_type"])
            value = self.data[column]
            yield from _strings(as_read(value) if column == "content" else value, with_names=with_names)


class Column(NamedTuple):
    """What a rule reads of the community of a post: an attribute of it, from an SQL expression about its row."""

    name: str
    sql: str
    values: Mapping[str, Any]


class ContentRule(Protocol):
    errors: ClassVar[tuple[type[ApiError], ...]]

    def prepare(self, draft: Draft) -> None: ...

    def columns(self, *, page_url: str | None, source_embed: UUID | None) -> Sequence[Column]: ...

    def check(self, draft: Draft) -> None: ...


class CommunityRule:
    """Applies the word list of the message's community."""

    errors = ()

    def prepare(self, draft: Draft) -> None:
        """Does nothing: the body of the request names the community."""

    def columns(self, *, page_url: str | None, source_embed: UUID | None) -> Sequence[Column]:
        """None: the word list is a column of the community."""
        return ()

    def check(self, draft: Draft) -> None:
        if draft.community is not None:
            refuse_blocked(draft, draft.community.blocked_words)


@lru_cache(maxsize=1)
def content_rules() -> tuple[ContentRule, ...]:
    return tuple(import_string(path)() for path in settings.CONTENT_RULES)


def community_columns(*, page_url: str | None, source_embed: UUID | None = None) -> list[Column]:
    """What `check` reads of the community of a post on this page, for the statement that reads the community."""
    return [column for rule in content_rules() for column in rule.columns(page_url=page_url, source_embed=source_embed)]


def refuse_blocked(draft: Draft, words: list[str]) -> None:
    """Raises ContentBlocked (422) if a text of the draft contains one of the words."""
    if not words:
        return
    word_list = compile_words(tuple(words))
    if any(word_list.first_match(text) for text in draft.texts() if text):
        raise ContentBlocked


def _strings(value: Any, *, with_names: bool) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        if with_names:
            yield from value
        for inner in value.values():
            yield from _strings(inner, with_names=with_names)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner, with_names=with_names)


def content_rule_errors() -> tuple[type[ApiError], ...]:
    """The errors that the rules raise besides ContentBlocked, for the description of createMessage."""
    return tuple(error for rule in content_rules() for error in rule.errors)
