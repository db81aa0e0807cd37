"""The yardstick: the same operations in the least Python that can do them, on the same server and the same tables.

No framework, no checks of input, no errors, no headers: what is left is PostgreSQL, psycopg, orjson and granian. The
reads run the service's own statements; createMessage takes its locks in one statement and does all the rest in a
second one.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import threading
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qs

import orjson
import psycopg
from psycopg.types.string import TextLoader
from uuid_utils.compat import uuid7

from agents.credentials import FIND as FIND_TOKEN
from messaging import records
from reactions import statements as reactions

Answer = tuple[str, bytes]

LIST, _ = records._listing("", None, {}, None, 11, False)
PEPPER = os.environ["TOKEN_PEPPER"].encode()
HOURLY_POSTS = 30
CONFIG = """
SELECT id, community_id, domain_whitelist, page_rules, trigger_config, status FROM embeds_embed
WHERE id = %s AND deleted_at IS NULL
"""
LOCK = "SELECT pg_try_advisory_xact_lock(%s), pg_advisory_xact_lock(hashtext(%s), 0)"
POST = """
WITH clock AS MATERIALIZED (SELECT clock_timestamp() AS now),
stored AS MATERIALIZED (
    SELECT sealed FROM api_storedresponse WHERE key_mac = %(key)s AND created_at > now() - interval '7 days'
),
used AS (
    SELECT at FROM api_ledgerentry, clock
    WHERE account_id = %(author)s AND counter = 'post' AND at > now - interval '3600 seconds'
    ORDER BY at DESC LIMIT 30
),
tally AS (SELECT count(*) AS spent FROM used),
allowed AS MATERIALIZED (
    SELECT now FROM clock, tally WHERE spent < 30 AND NOT EXISTS (SELECT FROM stored)
        AND EXISTS (SELECT FROM messaging_page WHERE id = %(page)s)
),
entry AS (INSERT INTO api_ledgerentry (account_id, counter, at) SELECT %(author)s, 'post', now FROM allowed),
post AS (
    INSERT INTO messaging_message (id, page_id, author_id, author_kind, status, content, attachments, reply_count,
        quote_count, reaction_counts, reaction_total, created_at, updated_at)
    SELECT %(id)s, %(page)s, %(author)s, 'agent', 'published', %(content)s, '[]', 0, 0, '{}', 0, %(at)s, %(at)s
    FROM allowed
),
kept AS (
    INSERT INTO api_storedresponse (key_mac, body_mac, status, location, sealed, created_at)
    SELECT %(key)s, '', 201, '', %(answer)s, now FROM allowed WHERE %(key)s IS NOT NULL
)
SELECT spent, (SELECT sealed FROM stored) FROM tally
"""
_local = threading.local()


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    path = environ["PATH_INFO"]
    if environ["REQUEST_METHOD"] == "POST":
        status, body = (post if path == "/api/messages" else react)(environ)
    elif path == "/api/messages":
        status, body = list_posts(environ)
    elif path.startswith("/api/messages/"):
        status, body = one_post(path)
    else:
        status, body = config(path)
    start_response(status, [("Content-Type", "application/json"), ("Content-Length", str(len(body)))])
    return [body]


def list_posts(environ: dict[str, Any]) -> Answer:
    page_id = parse_qs(environ["QUERY_STRING"])["pageId"][0]
    rows = _connection().execute(LIST, [page_id]).fetchall()
    messages = [records.message_record(row) for row in rows[:10]]
    body = {"messages": messages, "hasMore": len(rows) > 10, "nextCursor": None}
    return "200 OK", orjson.dumps(body)


def one_post(path: str) -> Answer:
    row = _connection().execute(records.PUBLISHED_BY_ID, [path.rpartition("/")[2]]).fetchone()
    assert row
    return "200 OK", orjson.dumps(records.message_record(row))


def config(path: str) -> Answer:
    row = _connection().execute(CONFIG, [path.rpartition("/")[2]]).fetchone()
    assert row
    names = ("id", "communityId", "domainWhitelist", "pageRules", "triggerConfig", "status")
    fields = dict(zip(names, row, strict=True))
    fields |= {name: orjson.Fragment(fields[name]) for name in ("pageRules", "triggerConfig")}
    return "200 OK", orjson.dumps(fields | {"config": fields})


def post(environ: dict[str, Any]) -> Answer:
    connection = _connection()
    author, sent = _caller(connection, environ), orjson.loads(environ["wsgi.input"].read())
    key = environ.get("HTTP_IDEMPOTENCY_KEY")
    message_id, now = uuid7(), datetime.now(UTC)
    row = (message_id, sent["content"], "published", *author, sent["pageId"], *[None] * 14, "[]", None, None, 0, 0)
    answer = orjson.dumps(records.message_record((*row, "{}", 0, now, now)))
    mac = hashlib.sha256(f"{author[0]} {key}".encode()).digest()
    values = {"key": mac if key else None, "author": author[0], "page": sent["pageId"], "id": message_id, "at": now}
    values |= {"content": sent["content"], "answer": answer}
    with connection.transaction():
        locks = connection.execute(LOCK, [int.from_bytes(mac[:8], signed=True), str(author[0])])
        written = connection.execute(POST, values)
        held, *_ = locks.fetchone() or [False]
        spent, stored = written.fetchone() or [HOURLY_POSTS, None]
    if not held or (stored is None and spent >= HOURLY_POSTS):
        return "429 Too Many Requests", b"{}"
    return "201 Created", stored or answer


def react(environ: dict[str, Any]) -> Answer:
    connection = _connection()
    author, sent = _caller(connection, environ), orjson.loads(environ["wsgi.input"].read())
    values = {"message": sent["messageId"], "account": author[0], "emoji": sent["emoji"], "reaction": uuid7()}
    row = connection.execute(reactions.ADD, values).fetchone()
    count, total, *_ = row or (0, 0)
    return "200 OK", orjson.dumps({"success": True, "action": "added", "count": count, "total": total})


def _caller(connection: psycopg.Connection, environ: dict[str, Any]) -> tuple[Any, str, str, str]:
    token = environ["HTTP_AUTHORIZATION"].removeprefix("Bearer ")
    digest = hmac.digest(PEPPER, token.encode(), "sha256")
    values = {"digest": digest, "previous_digest": digest, "key": None, "previous_key": None}
    row = connection.execute(FIND_TOKEN, values).fetchone()
    assert row
    account_id, handle, name = row[8:11]
    return account_id, name, handle, "agent"


def _connection() -> psycopg.Connection:
    """This thread's own."""
    if not hasattr(_local, "connection"):
        _local.connection = connection = psycopg.connect(os.environ["DATABASE_URL"], autocommit=True)
        connection.prepare_threshold = 0
        connection.adapters.register_loader("jsonb", TextLoader)
    opened: psycopg.Connection = _local.connection
    return opened
