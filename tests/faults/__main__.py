"""`make faults`: every kind of fault, many times, and a table. Ends with 0 where nothing was lost or doubled."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable

from tests.faults.kinds import FAULTS, SMALL_DISK_FAULTS, Fault
from tests.faults.run import Company, Round, play
from tests.faults.stage import a_stage, can_mount

SMALL_DISK_BYTES = 400 << 20
HEADINGS = ("kind", "times", "acknowledged", "lost", "doubled", "altered", "worst request", "worst write", "back in")
LAYOUT = "{:<24}{:>6}{:>14}{:>6}{:>9}{:>9}{:>15}{:>13}{:>9}"


def main() -> None:
    options = _options()
    chosen = {fault: options.times or times for fault, times in FAULTS.items() if _is_chosen(fault, options.kinds)}
    on_small_disk = {fault: times for fault, times in chosen.items() if fault in SMALL_DISK_FAULTS}
    elsewhere = {fault: times for fault, times in chosen.items() if fault not in SMALL_DISK_FAULTS}
    _say(LAYOUT.format(*HEADINGS))
    rounds = _play_all(elsewhere, disk_bytes=None)
    if can_mount():
        rounds += _play_all(on_small_disk, disk_bytes=SMALL_DISK_BYTES)
    elif on_small_disk:
        _say("(disk full: left out, since only root can make a small disk)")
    _say(_total(rounds))
    sys.exit(0 if all(done.is_good for done in rounds) else 1)


def _play_all(faults: dict[Fault, int], *, disk_bytes: int | None) -> list[Round]:
    if not faults:
        return []
    rounds = []
    with a_stage(disk_bytes=disk_bytes) as stage:
        company = Company.of(stage)
        for fault, times in faults.items():
            done = play(stage, company, fault, times=times)
            _say(_line(done))
            rounds.append(done)
    return rounds


def _line(done: Round) -> str:
    notes, verdict = done.notes, done.verdict
    line = LAYOUT.format(
        done.kind,
        done.times,
        len(notes.writes),
        verdict.lost,
        verdict.doubled,
        verdict.altered,
        f"{notes.slowest * 1000:.0f} ms",
        f"{notes.longest:.2f} s",
        f"{done.recovered:.2f} s",
    )
    return line if done.is_good else f"{line}\n    {verdict}\n    " + "\n    ".join(notes.surprises[:5])


def _total(rounds: list[Round]) -> str:
    return LAYOUT.format(
        f"{len(rounds)} kinds",
        sum(done.times for done in rounds),
        sum(len(done.notes.writes) for done in rounds),
        sum(done.verdict.lost for done in rounds),
        sum(done.verdict.doubled for done in rounds),
        sum(done.verdict.altered for done in rounds),
        "",
        "",
        "",
    )


def _is_chosen(fault: Fault, kinds: Iterable[str]) -> bool:
    return not kinds or fault.__name__ in kinds


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    names = [fault.__name__ for fault in FAULTS]
    parser.add_argument("kinds", nargs="*", help=f"of {', '.join(names)}; all where none is named")
    parser.add_argument("--times", type=int, help="of each kind, instead of its own number")
    return parser.parse_args()


def _say(text: str) -> None:
    sys.stdout.write(text.rstrip() + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
