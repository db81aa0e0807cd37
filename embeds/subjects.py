"""What answers about embeds depend on, for `config.api.freshness`."""

from __future__ import annotations

from uuid import UUID


def embed_subject(embed_id: UUID) -> str:
    """The public config of one embed."""
    return f"embed:{embed_id}"
