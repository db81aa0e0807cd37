"""Finds what an embed shows, by the class in the setting EMBED_VIEWS: messaging does not import embeds."""

from __future__ import annotations

from functools import cache
from typing import ClassVar, Protocol
from uuid import UUID

from django.conf import settings
from django.utils.module_loading import import_string

from kernel.api.exceptions import ApiError
from kernel.cache.loaders import KnownValues
from messaging.cache_tags import SHOWN, embed_tag
from messaging.posts.shown import Shown


class EmbedViews(Protocol):
    errors: ClassVar[tuple[type[ApiError], ...]]

    def find(self, embed_id: UUID) -> Shown: ...


_known: KnownValues[UUID, Shown] = KnownValues()


@cache
def _views() -> EmbedViews:
    views: EmbedViews = import_string(settings.EMBED_VIEWS)()
    return views


def embed_errors() -> tuple[type[ApiError], ...]:
    """The errors of an operation with `embedId`."""
    return _views().errors


def shown_by(embed_id: UUID | None) -> Shown | None:
    """What this embed shows now; None without an embed: everything. Raises the `embed_errors`."""
    return None if embed_id is None else find_shown(embed_id)


def find_shown(embed_id: UUID) -> Shown:
    """What this embed shows now. Raises the `embed_errors`."""
    return _known.get(embed_id, shown_tags(embed_id), lambda: _views().find(embed_id))


def shown_tags(embed_id: UUID | None) -> tuple[str, ...]:
    """The cache tags of what an embed shows, besides those of the posts."""
    return () if embed_id is None else (embed_tag(embed_id), SHOWN)
