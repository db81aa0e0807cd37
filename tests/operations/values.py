"""Values of the metrics of this process."""

from __future__ import annotations

from config.metrics import definitions, exposition
from config.metrics.publishing import publisher


def value(name: str, **labels: str) -> float:
    """0 if it has none."""
    publisher().publish()
    sample = definitions.NAMESPACE + "_" + name
    return exposition.REGISTRY.get_sample_value(sample, labels) or 0.0
