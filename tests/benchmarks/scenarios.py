"""The scenarios: their requests, the form of the server, and the ratio that they must reach."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

import orjson
import psycopg

from tests.benchmarks import data
from tests.benchmarks.wrk import Request

SAMPLE = 10_000
REPLAYED = 500
MIXED_READS = 99
MIXED_PAGES = 100
COLD, ONE, HOT = "list, spread over all pages", "one message", "hot list"
MIXED, CREATE = "99 hot lists, 1 post there", "createMessage"
# What `make bench-ratios` measures.
RATIOS = (COLD, ONE, HOT, MIXED, CREATE)
JSON = {"Content-Type": "application/json"}
TEXT = "A new post, number {}, about as long as what people write below an article when they have a moment to spare."


class Form(StrEnum):
    """How the server under test runs: as `make run` does, without a response cache, with Redis."""

    PLAIN = "as make run"
    UNCACHED = "uncached"
    REDIS = "with Redis"


@dataclass(frozen=True, slots=True)
class Scenario:
    """`at_least` is the minimum ratio to the rate of the bare application, or of the scenario `of`."""

    name: str
    form: Form
    requests: list[Request]
    at_least: float | None = None
    of: str = ""
    on_bare: bool = True
    # Whether it repeats the writes of its own warm-up.
    repeats: bool = False


def list_of(page: int | str, headers: Mapping[str, str] | None = None, query: str = "") -> Request:
    return Request(f"/api/messages?pageId={data.page_id(page)}{query}", headers=headers)


def everything(connection: psycopg.Connection, *, pages: int, etag: Callable[[Form], str]) -> Iterator[Scenario]:
    """In the order of the table. `etag` returns that of the hot list now: earlier scenarios may have changed it."""
    order = random.Random(1)
    somewhere = [order.randrange(pages) for _ in range(SAMPLE)]
    posts = data.some_posts(connection, SAMPLE)
    hot = [list_of(0)]
    keyed = [_post(agent, somewhere[agent % SAMPLE], key="{n}") for agent in range(1, data.AGENTS + 1)]
    replays = [_post(agent, somewhere[agent], key="again") for agent in range(1, REPLAYED + 1)]
    config = [Request(f"/api/embeds/config/{data.EMBED_ID}")]
    reactions = [Request(f"/v1/reactions/{post}") for post in posts]
    loved = [_reaction(agent, posts[agent % SAMPLE]) for agent in range(1, data.AGENTS + 1)]

    yield Scenario(COLD, Form.UNCACHED, [list_of(page) for page in somewhere], 0.40)
    yield Scenario(ONE, Form.UNCACHED, [Request(f"/api/messages/{post}") for post in posts], 0.40)
    yield Scenario("reactions of a post", Form.UNCACHED, reactions, on_bare=False)
    yield Scenario("embed config", Form.UNCACHED, config)
    yield Scenario(HOT, Form.PLAIN, hot, 4.0)
    yield Scenario("hot list, 304", Form.PLAIN, [list_of(0, {"If-None-Match": etag(Form.PLAIN)})], 4.0)
    yield Scenario("embed config, hot", Form.PLAIN, config)
    yield Scenario(MIXED, Form.PLAIN, list(_mixed(somewhere)), 0.5, of=HOT, on_bare=False)
    yield Scenario("hot list, Redis", Form.REDIS, hot, 2.0)
    yield Scenario("hot list, 304, Redis", Form.REDIS, [list_of(0, {"If-None-Match": etag(Form.REDIS)})], 2.0)
    yield Scenario(CREATE, Form.PLAIN, keyed, 0.50)
    yield Scenario("createMessage without key", Form.PLAIN, [_without_key(post) for post in keyed])
    yield Scenario("replay", Form.PLAIN, replays, 2.0, of=CREATE, repeats=True)
    yield Scenario("addReaction", Form.PLAIN, loved)


def _mixed(pages: list[int]) -> Iterator[Request]:
    """Lists and posts over the same pages, so that each post invalidates the cached list of its page."""
    for number, written in enumerate(pages[:MIXED_PAGES]):
        yield from (list_of(pages[(number * MIXED_READS + place) % MIXED_PAGES]) for place in range(MIXED_READS))
        yield _post(1 + number * MIXED_PAGES, written, key="{n}")


def growing(*, pages: int) -> Iterator[Scenario]:
    """Scenarios with a rate that must not depend on the number of posts."""
    order = random.Random(2)
    somewhere = [order.randrange(pages) for _ in range(SAMPLE)]
    keyed = [_post(agent, somewhere[agent % SAMPLE], key="{n}") for agent in range(1, data.AGENTS + 1)]
    yield Scenario("list", Form.UNCACHED, [list_of(page) for page in somewhere], on_bare=False)
    yield Scenario("createMessage", Form.UNCACHED, keyed, on_bare=False)


def large(connection: psycopg.Connection, deep: str) -> Iterator[Scenario]:
    """Scenarios on large pages and posts. `deep` is the cursor of the 1,000th page of the list of 50,000 posts."""
    replied, loved = data.only_post(connection, data.THREAD), data.only_post(connection, data.LOVED)
    reactions = [_reaction(agent, loved) for agent in range(1, data.AGENTS + 1)]
    lists = {
        "page of 50,000 posts": list_of(data.BIG),
        "page of 50,000 posts, its 1,000th page": list_of(data.BIG, query=f"&cursor={deep}"),
        "post with 10,000 replies": list_of(data.THREAD, query=f"&parentId={replied}"),
        "its page, with the top reply": list_of(data.THREAD, query="&includeTopReply=true"),
        "post with 100,000 reactions": Request(f"/v1/reactions/{loved}"),
    }
    for name, request in lists.items():
        yield Scenario(name, Form.UNCACHED, [request], on_bare=False)
    yield Scenario("a reaction more to that post", Form.UNCACHED, reactions, on_bare=False)


def _post(agent: int, page: int, *, key: str) -> Request:
    body = orjson.dumps({"pageId": data.page_id(page), "content": TEXT.format(agent)})
    return Request("/api/messages", "POST", _credential(agent) | {"Idempotency-Key": key}, body)


def _without_key(post: Request) -> Request:
    headers = {name: value for name, value in (post.headers or {}).items() if name != "Idempotency-Key"}
    return Request(post.path, post.method, headers, post.body)


def _reaction(agent: int, post: object) -> Request:
    return Request("/v1/reactions", "POST", _credential(agent), orjson.dumps({"messageId": str(post), "emoji": "👍"}))


def _credential(agent: int) -> dict[str, str]:
    return JSON | {"Authorization": f"Bearer {data.token(agent)}"}
