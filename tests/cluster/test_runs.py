"""When a row of `make cluster-faults` is good."""

from __future__ import annotations

from tests.cluster.runs import STALE_MAX_SECONDS, Run
from tests.faults.invariants import Verdict
from tests.faults.notes import Notes

BREAK = "GET /: closed"


def a_run(
    *, back: float = 4.0, may_break: bool = False, notes: Notes | None = None, verdict: Verdict | None = None
) -> Run:
    return Run("primary killed", 5.0, may_break, [1.0, back], notes or Notes(), verdict or Verdict())


def test_a_run_within_its_bounds_is_good() -> None:
    for run in (a_run(), a_run(may_break=True, notes=Notes(broken=[BREAK]))):
        assert run.is_good
        assert "\n" not in str(run)


def test_a_run_beyond_one_of_its_bounds_is_not_good_and_says_so() -> None:
    for run in (
        a_run(back=5.1),
        a_run(verdict=Verdict(lost=1)),
        a_run(notes=Notes(broken=[BREAK])),
        a_run(notes=Notes(surprises=["500"])),
        a_run(notes=Notes(stale=STALE_MAX_SECONDS + 0.1)),
    ):
        assert not run.is_good
        assert "the load itself stood still" in str(run)


def test_a_slow_request_is_printed_with_what_the_proxy_says() -> None:
    run = a_run(notes=Notes(slowest=17.0, slowest_request="GET /api/messages: 200"))
    run.said = "hosts 10.89.20.8:48317"
    assert run.is_good
    assert "GET /api/messages: 200" in str(run)
    assert "hosts 10.89.20.8:48317" in str(run)
