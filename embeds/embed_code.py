from __future__ import annotations

from html import escape
from uuid import UUID

LOADER_PATH = "/embed/v1.js"


def embed_code(*, app_url: str, embed_id: UUID | str) -> str:
    """Return the script element that an owner pastes into a page. It includes no text of users."""
    return f'<script async src="{escape(app_url)}{LOADER_PATH}" data-service-id="{embed_id}"></script>'
