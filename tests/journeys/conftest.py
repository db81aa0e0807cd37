"""Fixtures of the tests that run programs of other projects."""

from tests.journeys.node import node_packages
from tests.journeys.start import start

__all__ = ["node_packages", "start"]
