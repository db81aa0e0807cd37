"""Generated names, word lists and pages of posts: valid requests, each with a check of its response."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from http.client import HTTPException
from typing import Any

from tests.fuzz.hostile import Tally
from tests.fuzz.names import GOOD, REFUSED, is_clean
from tests.fuzz.scenario import Scenario
from tests.remote import Remote, Reply

# As in docs/agents.md; the module of the service with this number needs settings.
PAGE_BYTES = 2 * 1024 * 1024
INSTANCES = "/api/embeds/instances"
MESSAGES = "/api/messages"
POSTS_OF_A_PAGE = 25
PIECES = (*(text for text in (*GOOD, *REFUSED) if "\x00" not in text and "\ud800" not in text), "a", " ", "_", "*", "$")
CHARACTERS = ("x", '"', "\x01", "é", "字", "💩")


def fuzz(scenario: Scenario, *, count: int, seed: int) -> dict[str, Tally]:
    """`count` names, as many word lists, and posts of a tenth as many pages. Returns {kind: tally}."""
    rng, remote = random.Random(seed), scenario.remote
    tallies = {name: Tally() for name in ("names", "word lists", "pages of posts")}
    for _ in range(count):
        _record(tallies["names"], lambda: _try_name(scenario, remote, rng))
        _record(tallies["word lists"], lambda: _try_word_list(scenario, remote, rng))
    for _ in range(max(count // 10, 1)):
        _record(tallies["pages of posts"], lambda: _try_page(scenario, remote, rng))
    remote.close()
    return tallies


def _record(tally: Tally, tried: Callable[[], Iterator[tuple[Reply, str | None]]]) -> None:
    """Record each response and its problem, if any."""
    began = time.monotonic()
    try:
        for reply, problem in tried():
            tally.inputs += 1
            tally.statuses[reply.status] += 1
            tally.slowest = max(tally.slowest, time.monotonic() - began)
            if problem or reply.status >= 500:
                tally.wrong.append(f"{problem or '5xx'}: {reply.status} {reply.body[:200]!r}")
            began = time.monotonic()
    except (OSError, HTTPException) as failure:
        tally.wrong.append(repr(failure))


def _try_name(scenario: Scenario, remote: Remote, rng: random.Random) -> Iterator[tuple[Reply, str | None]]:
    """Store it as the name of an embed, and have every other field with a name check it."""
    name = "".join(rng.choices(PIECES, k=rng.randint(1, 4)))
    for method, path, field, wrong, caller in _named(scenario):
        reply = remote.call(method, path, {field: name} | wrong, **scenario.callers[caller])
        is_refused = any(fault["pointer"] == f"/{field}" for fault in reply.json.get("details", ()))
        # Some names have at least two characters.
        is_sound = name in GOOD and len(name) > 1
        fine = reply.status == 400 and not (is_refused and is_sound) and (is_refused or is_clean(name.strip()))
        yield reply, None if fine else f"{name!a} as {field} at {path}"
    sent = {"name": name, "communityId": scenario.ids["communityId"][0]}
    reply = remote.call("POST", INSTANCES, sent, **scenario.callers["signed in"])
    fine = reply.status == 400 or (reply.status == 201 and is_clean(reply.json["name"]))
    yield reply, None if fine else f"{name!a} as a name"


def _named(scenario: Scenario) -> Iterator[tuple[str, str, str, dict[str, Any], str]]:
    """(method, path, field, a value that is refused, so that no row is written, caller)."""
    request, embed = scenario.ids["createAgentToken"][0], scenario.ids["serviceId"][0]
    yield "POST", "/api/auth/register", "name", {"handle": "-"}, "nobody"
    yield "POST", "/v1/communities", "name", {"slug": "a b"}, "person"
    yield "POST", "/v1/agent-tokens/requests", "agentName", {"scopes": []}, "person"
    yield "POST", f"/v1/agent-tokens/requests/{request}/token", "label", {"expiresInDays": 0}, "super admin"
    yield "PUT", f"{INSTANCES}/{embed}", "name", {"status": "x"}, "signed in"


def _try_word_list(scenario: Scenario, remote: Remote, rng: random.Random) -> Iterator[tuple[Reply, str | None]]:
    """Save a word list of the embed; post through the embed without and with one of its entries."""
    entries, embed = _random_entries(rng), scenario.ids["serviceId"][0]
    saved = remote.call("PUT", f"{INSTANCES}/{embed}", {"blockedWords": entries}, **scenario.callers["signed in"])
    yield saved, None if saved.status in (200, 400) else "a word list that is neither saved nor refused"
    if saved.status != 200:
        return
    through = scenario.callers["person"] | {"x-service-embed-id": embed}
    post = {"pageId": scenario.ids["pageId"][0], "content": "0"}
    reply = remote.call("POST", MESSAGES, post, **through)
    yield reply, None if reply.status == 201 else "a text without an entry of the list is refused"
    if entries:
        hidden = f"_ {rng.choice(entries).rstrip('*')} *"
        yield remote.call("POST", MESSAGES, post | {"content": hidden}, **through), None


def _random_entries(rng: random.Random) -> list[str]:
    count, longest = rng.choice((1, 10, 500)), rng.choice((1, 10, 50))
    letter = rng.choice((*CHARACTERS[2:], *"abc", "\ufdfa", "हि"))
    phrases = [" ".join(f"{letter}{rng.choice('abc')}" for _ in range(rng.randint(1, longest))) for _ in range(count)]
    return [phrase[:99] + rng.choice(("", "*", "_")) for phrase in phrases]


def _try_page(scenario: Scenario, remote: Remote, rng: random.Random) -> Iterator[tuple[Reply, str | None]]:
    """Posts and replies of any size: every page of the list is within its size, and shows each post once."""
    url = {"url": f"https://example.com/{rng.getrandbits(64)}"}
    page = remote.call("POST", "/v1/presence/normalize-url", url).json["pageId"]
    ids: list[str] = []
    for _ in range(POSTS_OF_A_PAGE):
        answered = {"parentId": rng.choice(ids)} if ids and rng.random() < 0.4 else {}
        quoted = {"quoteId": rng.choice(ids)} if ids and rng.random() < 0.3 else {}
        reply = remote.call("POST", MESSAGES, _post(page, rng) | answered | quoted, **scenario.callers["person"])
        yield reply, None if reply.status == 201 else "a post within all limits is refused"
        if reply.status == 201 and not answered:
            ids.insert(0, reply.json["id"])
    for limit in (rng.randint(1, 12), 100):
        yield from _walk(remote, f"{MESSAGES}?pageId={page}&limit={limit}", ids)
        yield from _walk(remote, f"{MESSAGES}?pageId={page}&limit={limit}&includeTopReply=true", ids)
    changes = remote.call("GET", f"/v1/changes?pageId={page}&limit=100")
    yield changes, None if len(changes.body) <= PAGE_BYTES else "a page of changes is too large"


def _post(page: str, rng: random.Random) -> dict[str, Any]:
    character, share = rng.choice(CHARACTERS), rng.choice((0.001, 0.1, 1))
    text = character * int(60_000 * share / len(repr(character).encode()))
    return {
        "pageId": page,
        "content": (character * int(20_000 * share)) or "x",
        "tagType": "note",
        "payload": {"text": text, "numbers": [rng.random()] * int(100 * share)},
        "contextAnchor": {"text": text},
        "attachments": [{"type": "x", "url": "https://example.com/" + "x" * int(2_000 * share)}] * rng.randint(0, 20),
    }


def _walk(remote: Remote, path: str, expected: list[str]) -> Iterator[tuple[Reply, str | None]]:
    listed: list[str] = []
    cursor: str | None = ""
    while cursor is not None:
        reply = remote.call("GET", f"{path}&cursor={cursor}" if cursor else path)
        messages = reply.json.get("messages", [])
        listed += [message["id"] for message in messages]
        cursor = reply.json.get("nextCursor")
        fits = len(reply.body) <= PAGE_BYTES or len(messages) == 1
        yield reply, None if fits and (messages or not cursor) else "a page of the list is too large or empty"
    if listed != expected:
        yield reply, "the list skips or repeats posts"
