"""The metrics of all processes of this host, in the text format of Prometheus."""

from __future__ import annotations

import platform
from collections.abc import Iterator

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import REGISTRY, Collector

from config.version import VERSION
from kernel.metrics import definitions, files

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
        folder = files.folder()
        if folder is None:
            yield from (metric for metric in REGISTRY.collect() if metric.name.startswith(definitions.NAMESPACE))
            return
        with files.locked(folder):
            files.merge_ended(folder)
            metrics = list(MultiProcessCollector(None, path=str(folder)).collect())  # type: ignore[no-untyped-call]
        yield from metrics
