"""Sets the gauge `ready` of this process every few seconds, whether or not a balancer asks `/readyz`."""

from __future__ import annotations

import threading

from kernel.metrics import definitions
from kernel.probes.readiness import parts, readiness

SECONDS = 5.0


def start() -> None:
    threading.Thread(target=_run, daemon=True, name="readiness").start()


def publish() -> None:
    state = readiness().state()
    for part in parts():
        definitions.ready.labels(part).set(part not in (*state.missing, *state.degraded))


def _run() -> None:
    pause = threading.Event()
    # A process that only loads the application, to check that it does, asks nothing.
    while not pause.wait(SECONDS):
        publish()
