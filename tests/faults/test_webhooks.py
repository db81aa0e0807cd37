"""The short form of the faults of webhooks in `make faults`, and what they detect."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from http.client import HTTPException

import pytest

from tests.clients import Person
from tests.faults.webhooks import (
    DELAYING_ALL,
    FAULTS,
    Fault,
    Hook,
    Stage,
    a_stage,
    delivering_service,
    misrouted,
    play,
)
from tests.remote import Remote
from tests.waiting import ATTEMPTS
from tests.webhooks.receiver import Receiver, Respond, running_receiver, silence, status


@pytest.mark.slow
@pytest.mark.processes
def test_faults_of_receivers_and_deliverers_lose_no_event(subtests: pytest.Subtests) -> None:
    """Faults of receivers are played at once, each with owners of its own: they spend their time waiting."""
    receivers = [fault for fault in FAULTS if fault not in DELAYING_ALL]
    with ExitStack() as running:
        service = running.enter_context(delivering_service())
        stages = {fault: running.enter_context(a_stage(service)) for fault in FAULTS}
        for stage in stages.values():
            stage.ends_leases = True
        with ThreadPoolExecutor(len(receivers)) as threads:
            played = {fault: threads.submit(delivers_in_some_attempt, stages[fault], fault) for fault in receivers}
        for fault in FAULTS:
            with subtests.test(fault.__name__):
                assert played[fault].result() if fault in played else delivers_in_some_attempt(stages[fault], fault)


def delivers_in_some_attempt(stage: Stage, fault: Fault) -> bool:
    return any(delivers_in_time(stage, fault) for _ in range(ATTEMPTS))


def delivers_in_time(stage: Stage, fault: Fault) -> bool:
    result = play(stage, fault, times=1)
    shown = f"{result}: {stage.disturbed.arrived()} {stage.disturbed.expected}"
    assert (result.undelivered, result.misrouted) == (0, 0), shown
    assert result.requests >= result.events, shown
    return result.is_good


def a_hook(receiver: Receiver, *expected: str) -> Hook:
    return Hook(Person("", "", {}, {}), "", receiver, list(expected))


def deliver(receiver: Receiver, post: str, *, method: str = "POST", event: str = "evt_1") -> None:
    remote = Remote(receiver.port)
    with suppress(OSError, HTTPException):
        remote.call(method, "/", {"messageId": post}, **{"webhook-id": event})
    remote.close()


@pytest.mark.parametrize("respond", [silence(0), status(500), status(302), status(410)])
def test_an_event_without_an_acknowledgement_is_undelivered(respond: Respond) -> None:
    with running_receiver() as receiver:
        hook, receiver.respond = a_hook(receiver, "first", "second"), respond
        deliver(receiver, "first")
        assert hook.undelivered() == 2
        receiver.respond = status(204)
        deliver(receiver, "first")
        assert hook.undelivered() == 1


def test_an_event_that_is_acknowledged_before_an_earlier_one_is_undelivered() -> None:
    with running_receiver() as receiver:
        hook = a_hook(receiver, "first", "second", "third")
        for post in ("first", "third", "second", "third"):
            deliver(receiver, post)
        assert hook.undelivered() == 2


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_followed_redirect_is_misrouted(method: str) -> None:
    with running_receiver() as receiver, running_receiver() as other:
        hooks = a_hook(receiver), a_hook(other)
        deliver(receiver, "first", event="evt_1")
        deliver(other, "first", event="evt_2")
        assert misrouted(*hooks) == 0
        deliver(other, "first", method=method, event="evt_1")
        assert misrouted(*hooks) == 1
