"""Checks the guarantees of the service after a fault, in the database and through the API."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from tests.clients import bearer
from tests.faults.environment import Environment
from tests.faults.load import EDITED
from tests.faults.notes import Write
from tests.remote import Remote

# Posts with counts that differ from the rows that they count.
SKEWED = """
SELECT count(*) FROM messaging_message AS post
WHERE reply_count <> (
        SELECT count(*) FROM messaging_message WHERE parent_id = post.id AND (status = 'published' OR is_tombstone))
   OR quote_count <> (SELECT count(*) FROM messaging_message WHERE quote_id = post.id AND status = 'published')
   OR reaction_total <> (SELECT count(*) FROM reactions_reaction WHERE message_id = post.id)
"""


@dataclass(slots=True)
class Verdict:
    """Broken guarantees; empty if none. `altered`: replays that differ from the first response.

    `unfollowed`, `followed_again`: posts that a reader of the stream or of the list has not got, or got twice.
    `misordered`: readers that got them in another order than that of the log.
    """

    lost: int = 0
    doubled: int = 0
    altered: int = 0
    skewed: int = 0
    unfollowed: int = 0
    followed_again: int = 0
    misordered: int = 0
    overspent: dict[str, int] = field(default_factory=dict)


def judge(environment: Environment, writes: list[Write], *, charged_before: Counter[str]) -> Verdict:
    """Check acknowledged writes while no write is in progress. `charged_before`: the result of `ledger` before them."""
    verdict = Verdict()
    written = [write for write in writes if "content" in write.body]
    contents = [write.body["content"] for write in written]
    stored = environment.rows("SELECT id::text, content FROM messaging_message WHERE content = ANY(%s)", contents)
    texts, times = dict(stored), Counter(content.removesuffix(EDITED) for _id, content in stored)
    # An edit comes after the post.
    acknowledged = {write.reply.json["id"]: write.body["content"] for write in written if write.reply}
    verdict.lost = sum(texts.get(post) != content for post, content in acknowledged.items())
    verdict.doubled = sum(times_found - 1 for times_found in times.values())

    reactions = [write for write in writes if write.path == "/v1/reactions"]
    expected = [write.reply.json["reactionId"] for write in reactions if write.reply]
    rows = environment.rows("SELECT id::text FROM reactions_reaction WHERE id = ANY(%s::uuid[])", expected)
    verdict.lost += len(set(expected) - {row[0] for row in rows})

    remote = Remote(environment.service.port)
    verdict.altered = sum(not _is_replayed(remote, write) for write in writes)
    [[verdict.skewed]] = environment.rows(SKEWED)
    verdict.overspent = _difference(
        ledger(environment) - charged_before, Counter(c for write in writes for c in write.counters)
    )
    return verdict


def ledger(environment: Environment) -> Counter[str]:
    """The charges to each hourly limit, of all agents together."""
    rows = environment.rows("SELECT counter, count(*) FROM api_ledgerentry GROUP BY counter")
    return Counter(dict(rows))


def _is_replayed(remote: Remote, write: Write) -> bool:
    first = write.reply
    assert first
    again = remote.call(write.method, write.path, write.body, key=write.key, **bearer(write.token))
    replayed = again.headers.get("idempotent-replayed") == "true"
    return replayed and (again.status, again.body) == (first.status, first.body)


def _difference(spent: Counter[str], acknowledged: Counter[str]) -> dict[str, int]:
    names = spent.keys() | acknowledged.keys()
    return {name: spent[name] - acknowledged[name] for name in names if spent[name] != acknowledged[name]}
