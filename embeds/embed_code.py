from __future__ import annotations

from html import escape
from uuid import UUID

LOADER_PATH = "/embed/v1.js"


def embed_code(*, app_url: str, embed_id: UUID | str, is_inline: bool = False) -> str:
    """Return the script element that an owner pastes into a page. It includes no text of users.

    With `is_inline`, the discussion is in the page, at the place of the element.
    """
    mode = ' data-mode="inline"' if is_inline else ""
    return f'<script async src="{escape(app_url)}{LOADER_PATH}" data-service-id="{embed_id}"{mode}></script>'
