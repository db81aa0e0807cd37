"""For tests/partitioning/test_suite.py, which names this file: pytest does not find it otherwise."""

from __future__ import annotations

import pytest
from django.db import connection

KIND = "SELECT relkind FROM pg_class WHERE oid = 'messaging_message'::regclass"


@pytest.mark.django_db
def test_the_posts_are_divided() -> None:
    with connection.cursor() as cursor:
        cursor.execute(KIND)
        assert cursor.fetchone() == ("p",)
