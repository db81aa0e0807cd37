"""What a post must pass before it is written: rule objects named in `CONTENT_RULES`.

Another app adds its own by a dotted path, so that messaging need not know it. `prepare` runs before the community is
checked and may set it or refuse the source; `check` runs last before the limit is spent and may refuse the text.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Protocol
from uuid import UUID

from django.conf import settings
from django.utils.module_loading import import_string

from messaging.errors import ContentBlocked
from messaging.models import Community
from messaging.smart_tags import is_open
from messaging.word_lists import compile_words


@dataclass(slots=True)
class Draft:
    """A post on its way, as it was sent. `embed_id` is the raw `x-service-embed-id` header, `origin` the Origin header.

    What the checks find out stands below it: the embed it came through, and the community it goes to.
    """

    author_kind: str
    page_id: str
    content: str = ""
    community_id: UUID | None = None
    parent_id: UUID | None = None
    quote_id: UUID | None = None
    tag_type: str | None = None
    payload: dict[str, Any] | None = None
    anchor_text: str | None = None
    context_anchor: dict[str, Any] | None = None
    attachments: list[dict[str, str]] = field(default_factory=list)
    language: str | None = None
    source_app: str | None = None
    embed_id: str | None = None
    origin: str | None = None

    source_embed: UUID | None = None
    community: Community | None = None

    def texts(self) -> Iterator[str]:
        """Every string a reader may see, for word lists."""
        yield self.content
        yield self.anchor_text or ""
        yield from _strings(self.payload, with_names=is_open(self.tag_type))
        yield from _strings(self.attachments)


class ContentRule(Protocol):
    def prepare(self, draft: Draft) -> None: ...

    def check(self, draft: Draft) -> None: ...


class CommunityRule:
    """The community's own word list."""

    def prepare(self, draft: Draft) -> None:
        """Nothing to prepare: the community follows from the post itself."""

    def check(self, draft: Draft) -> None:
        if draft.community is not None:
            refuse_blocked(draft, draft.community.blocked_words)


@lru_cache(maxsize=1)
def content_rules() -> tuple[ContentRule, ...]:
    return tuple(import_string(path)() for path in settings.CONTENT_RULES)


def refuse_blocked(draft: Draft, words: list[str]) -> None:
    """Raises ContentBlocked (422) where a text of the draft holds one of the words."""
    if not words:
        return
    word_list = compile_words(tuple(words))
    if any(word_list.first_match(text) for text in draft.texts() if text):
        raise ContentBlocked


def _strings(value: Any, *, with_names: bool = False) -> Iterator[str]:
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
