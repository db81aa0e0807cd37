"""The short form of `make faults`: kinds that need no restart of the service, and that no other test injects."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from tests.faults import faults, table
from tests.faults.environment import Environment, an_environment
from tests.faults.healthy_clients import waits_beside
from tests.faults.invariants import judge, ledger
from tests.faults.load import PAUSE_SECONDS
from tests.faults.notes import Notes, Write
from tests.faults.run import Round, Writers, play
from tests.nginx import needs_nginx
from tests.waiting import ATTEMPTS

BRIEF = (
    faults.worker_killed,
    faults.all_workers_killed,
    faults.postgres_crash,
    faults.backends_terminated,
    faults.connections_exhausted,
    faults.deadlock,
    faults.redis_frozen,
    faults.slow_sockets,
    faults.migrated_while_serving,
    faults.stream_process_killed,
    faults.listener_terminated,
)
# The service replaces workers after each kill, also those that it has just started.
TIMES = {faults.all_workers_killed: 2}
# It takes seconds, in which writers without pauses would take the processors.
PAUSES = {faults.migrated_while_serving: 0.3}
COPY = """
INSERT INTO messaging_message
SELECT (jsonb_populate_record(post, jsonb_build_object('id', gen_random_uuid()))).* FROM messaging_message AS post
WHERE content = %s
"""


@pytest.mark.slow
@pytest.mark.processes
@needs_nginx
def test_faults_lose_and_double_no_write_and_block_no_client(subtests: pytest.Subtests) -> None:
    """One test, because starting the environment dominates its duration."""
    writes: list[Write] = []
    with an_environment() as environment:
        writers = Writers.of(environment)
        for fault in BRIEF:
            with subtests.test(fault.__name__):
                times, pause = TIMES.get(fault, 1), PAUSES.get(fault, PAUSE_SECONDS)
                finished = play(environment, writers, fault, times=times, pause=pause)
                writes += finished.notes.writes
                assert finished.is_good, table.line(finished)
                assert len(finished.notes.writes) >= len(writers.tokens)
        with subtests.test("slow clients behind the proxy"):
            check_healthy_clients(environment, writers)
        with subtests.test("broken guarantees are detected"):
            check_invariants(environment, writes)


def test_a_request_that_takes_longer_than_its_bound_is_detected() -> None:
    bound = faults.SLOWEST[faults.deadlock]
    rounds = [Round("deadlock", 1, slowest=bound, notes=Notes(slowest=bound + more)) for more in (0, 0.1)]
    assert [finished.is_good for finished in rounds] == [True, False]


def check_healthy_clients(environment: Environment, writers: Writers) -> None:
    path = f"/api/messages?pageId={writers.page_id}"
    attempts = (waits_beside(60, port=environment.proxy_port, path=path, seconds=1.5) for _ in range(ATTEMPTS))
    # `make faults` requires 250 ms for 99 of 100; here other tests use the machine too.
    assert any(waits.unanswered == 0 and waits.share(0.9) < 0.25 for waits in attempts)


def check_invariants(environment: Environment, writes: list[Write]) -> None:
    """`judge` detects a deleted post, a lost edit, a doubled post, another response and a charge too many."""
    reacted = {write.body["messageId"] for write in writes if write.counters == ("react",)}
    edits = {write.path: write for write in writes if write.method == "PUT"}
    posts = [write for write in writes if write.counters == ("post",)]
    edited = next(write for write in posts if path_of(write) in edits)
    # A post with a reaction cannot be deleted alone.
    writes = [write for write in posts if id_of(write) not in reacted and path_of(write) not in edits][:20]
    writes += [edited, edits[path_of(edited)]]
    before = ledger(environment) - Counter(counter for write in writes for counter in write.counters)
    environment.rows("DELETE FROM messaging_message WHERE content = %s", writes[0].body["content"])
    environment.rows(COPY, writes[1].body["content"])
    environment.rows("UPDATE messaging_message SET content = %s WHERE id = %s", edited.body["content"], id_of(edited))
    reply = writes[2].reply
    assert reply
    writes[2].reply = replace(reply, body=reply.body + b" ")
    environment.rows("INSERT INTO api_ledgerentry (account_id, counter, at) VALUES (gen_random_uuid(), 'post', now())")
    verdict = judge(environment, writes, charged_before=before)
    assert (verdict.lost, verdict.doubled, verdict.altered, verdict.overspent) == (2, 1, 1, {"post": 1})


def id_of(write: Write) -> str:
    assert write.reply
    return str(write.reply.json["id"])


def path_of(write: Write) -> str:
    return f"/api/messages/{id_of(write)}"
