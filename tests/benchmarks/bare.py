"""The reference: the same operations in minimal Python, on the same server and the same tables.

No framework, validation, error handling, headers or encryption: PostgreSQL, psycopg, orjson and granian alone. It runs
the statements of the service.
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

from agents.authentication import FIND as FIND_TOKEN
from agents.authentication import AgentAccount as Author
from agents.authentication import FoundToken
from kernel.writes.idempotency import STORE
from kernel.writes.rate_limits import RECORD
from kernel.writes.transaction import OPENED, combine_statements, open_statement
from messaging.posts import lists
from messaging.posts.queries import INSERT, VISIBLE_BY_ID, message_from_row, new_message
from messaging.posts.targets import FIND as FIND_TARGETS
from reactions import queries as reactions

Answer = tuple[str, bytes]

NEWEST = lists.MessageList("")
NEWEST_OF_PAGE, VALUES = lists._where(NEWEST, None, None)
LIST = lists._statement(NEWEST, NEWEST_OF_PAGE, 11, with_top_reply=False, is_weighed=False)
PEPPER = os.environ["TOKEN_PEPPER"].encode()
HOURLY_POSTS = 30
CONFIG = """
SELECT id, community_id, domain_whitelist, page_rules, trigger_config, status FROM embeds_embed
WHERE id = %s AND deleted_at IS NULL
"""
OPEN = open_statement(FIND_TARGETS)
WRITE, WRITE_KEYED = combine_statements(RECORD, INSERT), combine_statements(RECORD, INSERT, STORE)
UNUSED = """
community_id parent_id quote_id tag_type payload anchor_text context_anchor language source_app embed_id parent quote
operator_review
"""
NOTHING = dict.fromkeys(UNUSED.split())
# Positions in the rows of the service's statements.
SPENT, STORED = OPENED.index("spent"), OPENED.index("sealed")
PAGE_ID, PAGE_URL = len(OPENED) + 1, len(OPENED) + 2
CALLER = slice(FoundToken._fields.index("account_id"), FoundToken._fields.index("operator_id"))
OPTIONS = "-c plan_cache_mode=force_generic_plan"
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
    rows = _connection().execute(LIST, VALUES | {"page": page_id}).fetchall()
    messages = [message_from_row(row) for row in rows[:10]]
    body = {"messages": messages, "hasMore": len(rows) > 10, "nextCursor": None}
    return "200 OK", orjson.dumps(body)


def one_post(path: str) -> Answer:
    row = _connection().execute(VISIBLE_BY_ID, [path.rpartition("/")[2]]).fetchone()
    assert row
    return "200 OK", orjson.dumps(message_from_row(row))


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
    values = NOTHING | {"account": str(author[0]), "counters": "{post}", "places": "{30}", "page": sent["pageId"]}
    key = environ.get("HTTP_IDEMPOTENCY_KEY")
    mac = hashlib.sha256(f"{author[0]} {key}".encode()).digest() if key else None
    lock = int.from_bytes(mac[:8], signed=True) if mac else None
    with connection.transaction():
        opened = connection.execute(OPEN, values | {"key_lock": lock, "row": mac, "previous_row": mac}).fetchone()
        if opened is None or opened[SPENT] >= HOURLY_POSTS or not opened[PAGE_ID]:
            return "429 Too Many Requests", b"{}"
        if opened[STORED] is not None:
            return "201 Created", opened[STORED]
        written = {"id": uuid7(), "page_id": sent["pageId"], "author_id": author[0], "author_kind": "agent"}
        written |= {"status": "published", "content": sent["content"], "attachments": "[]", "now": datetime.now(UTC)}
        values |= written
        account: Any = Author(*author)
        url = opened[PAGE_URL]
        message = new_message(values, author=account, is_moderator=False, page_url=url, quote=(None,) * 7)
        answer = orjson.dumps(message)
        stored = {
            "stored_key": mac,
            "stored_body": b"",
            "stored_status": 201,
            "stored_location": "",
            "stored_sealed": answer,
        }
        connection.execute(WRITE_KEYED if key else WRITE, values | stored)
    return "201 Created", answer


def react(environ: dict[str, Any]) -> Answer:
    connection = _connection()
    author, sent = _caller(connection, environ), orjson.loads(environ["wsgi.input"].read())
    values = {"message": sent["messageId"], "account": author[0], "emoji": sent["emoji"], "reaction": uuid7()}
    row = connection.execute(reactions.ADD, values).fetchone()
    count, total, *_ = row or (0, 0)
    return "200 OK", orjson.dumps({"success": True, "action": "added", "count": count, "total": total})


def _caller(connection: psycopg.Connection, environ: dict[str, Any]) -> tuple[Any, str, str]:
    """(account id, handle, name)."""
    token = environ["HTTP_AUTHORIZATION"].removeprefix("Bearer ")
    digest = hmac.digest(PEPPER, token.encode(), "sha256")
    values = {"digest": digest, "previous_digest": digest, "key": None, "previous_key": None}
    row = connection.execute(FIND_TOKEN, values).fetchone()
    assert row
    return row[CALLER]


def _connection() -> psycopg.Connection:
    """The connection of this thread."""
    if not hasattr(_local, "connection"):
        _local.connection = connection = psycopg.connect(os.environ["DATABASE_URL"], autocommit=True, options=OPTIONS)
        connection.prepare_threshold = 0
        connection.adapters.register_loader("jsonb", TextLoader)
    opened: psycopg.Connection = _local.connection
    return opened
