"""Names the rows of the benchmark database; all names are computed from numbers, so no run stores a list."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from uuid import UUID

import psycopg

from agents import tokens
from messaging.pages.page_ids import normalize

POSTS_A_PAGE = 100
AGENTS = 20_000
PEOPLE = 100_000
BIG_PAGE_POSTS = 50_000
BIG_THREAD_REPLIES = 10_000
# Numbered pages have posts of all authors; these pages have many posts, replies and reactions.
BIG, THREAD, LOVED = "big", "thread", "loved"
EMBED_ID = UUID(int=1)


def url(page: int | str) -> str:
    return f"https://bench.example/{page}"


@lru_cache(maxsize=20_000)
def page_id(page: int | str) -> str:
    return normalize(url(page)).page_id


@lru_cache(maxsize=AGENTS)
def token(agent: int) -> str:
    """The token of an agent. It is not secret: it is computed from the number."""
    body = (
        tokens.TOKEN_PREFIX
        + ("benchmark" + hashlib.sha256(f"agent {agent}".encode()).hexdigest())[: tokens.RANDOM_LENGTH]
    )
    return body + tokens.checksum(body)


def connect(database_url: str) -> psycopg.Connection:
    """An autocommit connection that binds values on the client, so that PostgreSQL infers their types from the text."""
    return psycopg.connect(database_url, autocommit=True, cursor_factory=psycopg.ClientCursor)


def only_post(connection: psycopg.Connection, page: str) -> UUID:
    """The one top-level post of THREAD or LOVED."""
    statement = "SELECT id FROM messaging_message WHERE page_id = %s AND parent_id IS NULL"
    row = connection.execute(statement, [page_id(page)]).fetchone()
    assert row
    return UUID(str(row[0]))


def deep_cursor(connection: psycopg.Connection, *, page: str, pages: int, limit: int = 10) -> str:
    """The cursor of the page of a list after `pages` pages."""
    # DRF reads the settings when it is imported.
    from kernel.api.pagination import CursorPage

    statement = """
        SELECT created_at, id FROM messaging_message WHERE page_id = %s AND parent_id IS NULL
        ORDER BY created_at DESC, id DESC OFFSET %s LIMIT 1
    """
    row = connection.execute(statement, [page_id(page), pages * limit - 1]).fetchone()
    assert row
    query = {"page_id": page_id(page), "include_top_reply": False}
    return CursorPage.of("messages", query).cursor_at((row[0], row[1]))


def some_posts(connection: psycopg.Connection, count: int) -> list[UUID]:
    """The ids of posts spread over all pages."""
    statement = "SELECT id FROM messaging_message ORDER BY md5(id::text) LIMIT %s"
    return [row[0] for row in connection.execute(statement, [count]).fetchall()]


def forget_writes(connection: psycopg.Connection) -> None:
    """Empty the tables of limits and stored responses, so that no hourly limit refuses the next writes."""
    # One at a time: one statement for both could deadlock with writes in progress.
    for table in ("api_ledgerentry", "api_storedresponse"):
        connection.execute(f"TRUNCATE {table}")
