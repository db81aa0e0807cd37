"""The table that `make faults` ends with."""

from __future__ import annotations

from collections.abc import Iterable

from tests.faults.run import Round

LAYOUT = "{:<23}{:>6}{:>14}{:>6}{:>9}{:>9}{:>7}{:>8}{:>15}{:>13}{:>9}{:>9}"
HEADINGS = LAYOUT.format(
    *("kind", "times", "acknowledged", "lost", "doubled", "altered", "503", "broken"),
    *("worst request", "worst write", "back in", "stale"),
)
EXPLANATION = """
lost, doubled, altered: acknowledged writes that are gone, are there twice, or are replayed with another answer.
503, broken: requests that were answered 503, or not at all; the writers repeated them with the same key.
worst request: the longest wait for one answer. worst write: from the first request to the acknowledgement.
back in: the longest time from the end of a fault until every writer was served again.
stale: the longest time after an acknowledgement in which somebody was not shown what was acknowledged."""


def line(done: Round) -> str:
    """With what went wrong below it, where anything did."""
    notes, verdict = done.notes, done.verdict
    text = LAYOUT.format(
        *(done.kind, done.times, *_counts([done])),
        f"{notes.slowest * 1000:.0f} ms",
        f"{notes.longest:.2f} s",
        f"{done.recovered:.2f} s",
        f"{notes.stale:.2f} s",
    )
    return text if done.is_good else "\n    ".join([text, str(verdict), *notes.surprises[:5]])


def total(rounds: list[Round]) -> str:
    times = sum(done.times for done in rounds)
    worst = max((done.recovered for done in rounds), default=0)
    stale = max((done.notes.stale for done in rounds), default=0)
    return LAYOUT.format(f"{len(rounds)} kinds", times, *_counts(rounds), "", "", f"{worst:.2f} s", f"{stale:.2f} s")


def _counts(rounds: Iterable[Round]) -> list[int]:
    held = list(rounds)
    return [
        sum(len(done.notes.writes) for done in held),
        sum(done.verdict.lost for done in held),
        sum(done.verdict.doubled for done in held),
        sum(done.verdict.altered for done in held),
        sum(done.notes.statuses[503] for done in held),
        sum(done.notes.broken for done in held),
    ]
