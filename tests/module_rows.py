"""Rows that all tests of a module read: loaded once, inside a transaction of which each test is a savepoint."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import transaction
from pytest_django.plugin import DjangoDbBlocker


@contextmanager
def undone_after_module(blocker: DjangoDbBlocker) -> Iterator[None]:
    """For a fixture with the scope of a module, none of whose tests commits."""
    with blocker.unblock(), transaction.atomic():
        yield
        transaction.set_rollback(True)
