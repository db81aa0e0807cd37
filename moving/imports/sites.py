"""Whose numbers the ids of a file are: two sites of WordPress or isso number their comments, and authors, from 1."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from moving.imports.known_posts import known_posts
from moving.imports.staging import Staging
from moving.models import Move

LOOKED_UP = 1_000
POSTS = "SELECT source_id, page_id FROM post JOIN page ON page.number = post.page"


def site_of(staging: Staging, *, move: Move) -> str:
    """What precedes the ids of the file where they are stored; "" where no other site has the same ids.

    Imports of earlier releases stored ids without a site. A file that has posts of these goes on without one.
    """
    return "" if not staging.home or _has_posts_without_site(staging, move) else f"{staging.home} "


def _has_posts_without_site(staging: Staging, move: Move) -> bool:
    rows: Iterator[tuple[str, str]] = staging.database.execute(POSTS)
    while pages := dict(islice(rows, LOOKED_UP)):
        known = known_posts(pages, move=move)
        if any(post.is_on(pages[source_id]) for source_id, post in known.items()):
            return True
    return False
