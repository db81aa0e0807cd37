"""Fixtures of the tests that run programs of other projects."""

from tests.journeys.node import node_packages

__all__ = ["node_packages"]
