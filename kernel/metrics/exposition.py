"""The metrics of all processes of this host, in the text format of Prometheus.

What this process counts in memory, and the functions that the hot paths call.
"""

from __future__ import annotations

import platform
import weakref
from collections.abc import Iterator
from typing import Any, Final

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import REGISTRY, Collector

from config.version import VERSION
from kernel.metrics import definitions, files
from kernel.metrics.backup_report import successes
from kernel.metrics.definitions import SECONDS, DurationCounts

# Keys of the WSGI environment: the id of the operation, the status, and the result of the response cache. OUTCOME is
# all three; the response cache notes them in one step.
OPERATION: Final = "community_messaging.operation"
STATUS: Final = "community_messaging.status"
CACHE: Final = "community_messaging.cache"
# The code of a refusal, for the access log.
ERROR: Final = "community_messaging.error"
OUTCOME: Final = "community_messaging.outcome"
Outcome = tuple[str, str, str | None]
# Results of the response cache. A miss is refreshed by its loader, or enters Django.
HIT, REFRESHED, FILLED, NOT_STORED, BYPASSED = "hit", "refreshed", "filled", "not_stored", "bypassed"

# By (operation, status, result of the response cache), and by nothing.
REQUESTS = DurationCounts(SECONDS)
STATEMENTS = DurationCounts(SECONDS)
# psycopg's connections of this process, and the stores of cached responses.
CONNECTIONS: weakref.WeakSet[Any] = weakref.WeakSet()
STORES: weakref.WeakSet[Any] = weakref.WeakSet()


CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


def text() -> bytes:
    return generate_latest(registry())


def registry() -> CollectorRegistry:
    collected = CollectorRegistry()
    collected.register(ServiceCollector())
    return collected


class ServiceCollector(Collector):
    """The shared metrics, those of this process if it shares none, and the version of the service."""

    def collect(self) -> Iterator[Metric]:
        info = GaugeMetricFamily(
            f"{definitions.NAMESPACE}_build_info", "The release that runs.", labels=["version", "python"]
        )
        info.add_metric([VERSION, platform.python_version()], 1)
        yield info
        for what, at in successes().items():
            definitions.backup_at.labels(what).set(at)
        folder = files.folder()
        if folder is None:
            yield from (metric for metric in REGISTRY.collect() if metric.name.startswith(definitions.NAMESPACE))
            return
        files.mark_ended(folder)
        yield from MultiProcessCollector(None, path=str(folder)).collect()  # type: ignore[no-untyped-call]
