"""`make faults`: injects every kind of fault many times, and prints a table. Exits with 0 if no guarantee is broken."""

from __future__ import annotations

import argparse
import signal
import sys

from tests.faults import jobs, table, webhooks
from tests.faults.environment import an_environment, can_mount
from tests.faults.faults import FAULTS, SMALL_DISK_FAULTS, Fault
from tests.faults.healthy_clients import Waits, waits_beside
from tests.faults.run import Round, Writers, play

SMALL_DISK_BYTES = 400 << 20
SLOW_CLIENTS = 200
SLOW_SECONDS = 10
P99_SECONDS = 0.25


def main() -> None:
    options = _options()
    # Run every `finally`: the service, nginx and Redis are separate processes.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    chosen = {fault: options.times or FAULTS[fault] for fault in FAULTS if fault.__name__ in options.kinds}
    on_small_disk = {fault: times for fault, times in chosen.items() if fault in SMALL_DISK_FAULTS}
    _print(table.HEADINGS)
    rounds = _play_all({fault: times for fault, times in chosen.items() if fault not in SMALL_DISK_FAULTS})
    if can_mount():
        rounds += _play_all(on_small_disk, disk_bytes=SMALL_DISK_BYTES)
    elif on_small_disk:
        _print("disk full              skipped: only root can mount a small disk")
    _print(table.total(rounds))
    _print(table.EXPLANATION)
    delivers = _play_webhooks(_webhook_faults(options)) & _play_jobs(options)
    keeps_pace = _slow_clients().share(0.99) < P99_SECONDS
    sys.exit(0 if keeps_pace and delivers and all(finished.is_good for finished in rounds) else 1)


def _play_all(faults: dict[Fault, int], *, disk_bytes: int | None = None) -> list[Round]:
    if not faults:
        return []
    rounds = []
    with an_environment(disk_bytes=disk_bytes) as environment:
        writers = Writers.of(environment)
        for fault, times in faults.items():
            rounds.append(play(environment, writers, fault, times=times))
            _print(table.line(rounds[-1]))
    return rounds


def _webhook_faults(options: argparse.Namespace) -> dict[webhooks.Fault, int]:
    return {fault: options.times or n for fault, n in webhooks.FAULTS.items() if fault.__name__ in options.kinds}


def _play_webhooks(faults: dict[webhooks.Fault, int]) -> bool:
    """Returns whether every event was delivered in order."""
    if not faults:
        return True
    _print(f"\n{webhooks.HEADINGS}")
    results = []
    with webhooks.delivering_service() as service, webhooks.a_stage(service) as stage:
        for fault, times in faults.items():
            results.append(webhooks.play(stage, fault, times=times))
            _print(str(results[-1]))
    return all(result.is_good for result in results)


def _play_jobs(options: argparse.Namespace) -> bool:
    """Returns whether every job has had its effect once."""
    chosen = [name for name in jobs.FAULTS if name in options.kinds]
    if not chosen:
        return True
    _print(f"\n{jobs.HEADINGS}")
    results = []
    with jobs.a_stage() as stage:
        for name in chosen:
            results.append(jobs.play(stage, name, times=options.times or jobs.TIMES))
            _print(str(results[-1]))
    return all(result.is_good for result in results)


def _slow_clients() -> Waits:
    """Measure requests beside slow clients. Returns the waits behind the proxy, which is the documented setup."""
    with an_environment() as environment:
        path = f"/api/messages?pageId={environment.clients.page_id('https://example.com/beside-slow-clients')}"
        _print(f"\nListing messages beside {SLOW_CLIENTS} slow clients")
        behind_proxy = waits_beside(SLOW_CLIENTS, port=environment.proxy_port, path=path, seconds=SLOW_SECONDS)
        _print(f"  behind deploy/nginx.conf: {behind_proxy}")
        alone = waits_beside(SLOW_CLIENTS, port=environment.service.port, path=path, seconds=SLOW_SECONDS)
        _print(f"  without a proxy: {alone}")
        return behind_proxy


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    names = [fault.__name__ for fault in [*FAULTS, *webhooks.FAULTS]] + list(jobs.FAULTS)
    parser.add_argument("kinds", nargs="*", default=names, help=f"of {', '.join(names)}; default: all")
    parser.add_argument("--times", type=int, help="how often to inject each kind, instead of its default")
    return parser.parse_args()


def _print(text: str) -> None:
    sys.stdout.write(text.rstrip() + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
