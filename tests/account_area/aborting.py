"""Forms that create something once, whose first try is aborted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from unittest import mock

from django.db import connection

from account_area import submissions

DEADLOCK = "DO $$ BEGIN RAISE 'as of a deadlock' USING ERRCODE = '40P01'; END $$"


@contextmanager
def aborted_before_an_equal_form(found: str) -> Iterator[None]:
    """The first try is aborted after it has created its row; the next one finds that an equal form has made `found`."""
    tries = []

    def once(*, create: Callable[[], str], **_arguments: object) -> str:
        tries.append(create)
        if len(tries) == 1:
            create()
            with connection.cursor() as cursor:
                cursor.execute(DEADLOCK)
        return found

    with mock.patch.object(submissions, "_once", once):
        yield
    assert len(tries) == 2
