"""Values of the metrics of this process."""

from __future__ import annotations

from prometheus_client.registry import REGISTRY

from kernel.metrics import definitions
from kernel.metrics.publishing import publisher


def value(name: str, **labels: str) -> float:
    """0 if it has none."""
    publisher().publish()
    sample = definitions.NAMESPACE + "_" + name
    return REGISTRY.get_sample_value(sample, labels) or 0.0
