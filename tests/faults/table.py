"""The table that `make faults` prints."""

from __future__ import annotations

from collections.abc import Sequence

from tests.faults.run import Round

LAYOUT = "{:<23}{:>6}{:>14}{:>6}{:>9}{:>9}{:>7}{:>8}{:>15}{:>13}{:>9}{:>9}"
HEADINGS = LAYOUT.format(
    *("kind", "times", "acknowledged", "lost", "doubled", "altered", "503", "broken"),
    *("worst request", "worst write", "back in", "stale"),
)
EXPLANATION = """
lost, doubled, altered: acknowledged writes that are missing, are stored twice, or are replayed with another response.
503, broken: requests with a 503, or without a response; the writers repeated them with the same key.
worst request: the longest wait for one response. worst write: from the first request to the acknowledgement.
back in: the longest time from the end of a fault until every writer was served again.
stale: the longest time in which a read did not show an acknowledged write."""


def line(finished: Round) -> str:
    """One row; details of failures follow below it."""
    notes, verdict = finished.notes, finished.verdict
    text = LAYOUT.format(
        *(finished.kind, finished.times, *_counts([finished])),
        f"{notes.slowest * 1000:.0f} ms",
        f"{notes.longest:.2f} s",
        f"{finished.recovered:.2f} s",
        f"{notes.stale:.2f} s",
    )
    return text if finished.is_good else "\n    ".join([text, str(verdict), *notes.surprises[:5]])


def total(rounds: list[Round]) -> str:
    times = sum(finished.times for finished in rounds)
    worst = max((finished.recovered for finished in rounds), default=0)
    stale = max((finished.notes.stale for finished in rounds), default=0)
    return LAYOUT.format(f"{len(rounds)} kinds", times, *_counts(rounds), "", "", f"{worst:.2f} s", f"{stale:.2f} s")


def _counts(rounds: Sequence[Round]) -> list[int]:
    return [
        sum(len(finished.notes.writes) for finished in rounds),
        sum(finished.verdict.lost for finished in rounds),
        sum(finished.verdict.doubled for finished in rounds),
        sum(finished.verdict.altered for finished in rounds),
        sum(finished.notes.statuses[503] for finished in rounds),
        sum(len(finished.notes.broken) for finished in rounds),
    ]
