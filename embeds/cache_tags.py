"""The cache tags of responses about embeds."""

from __future__ import annotations

from uuid import UUID


def embed_tag(embed_id: UUID) -> str:
    """The tag of the public config of one embed."""
    return f"embed:{embed_id}"
