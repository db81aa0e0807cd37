from __future__ import annotations


def scopes_of(*, parent_id: object, quote_id: object) -> list[str]:
    """The scopes that a message needs: `reply` with a parent, `quote` with a quoted post, otherwise `post`; sorted."""
    return [*(["quote"] if quote_id is not None else []), *(["reply"] if parent_id is not None else [])] or ["post"]
