from __future__ import annotations

from io import StringIO

import pytest
from django.core.management import call_command
from django.db import connection

from config.database.host_lock import host_lock


@pytest.mark.django_db
def test_the_command_does_not_wait_for_a_conversion() -> None:
    out = StringIO()
    with host_lock(connection, task="migrates", say=print):
        call_command("make_partitions", stdout=out)
    assert "is running; the next run makes partitions" in out.getvalue()


@pytest.mark.django_db
def test_the_command_changes_nothing_unless_the_table_is_divided() -> None:
    out = StringIO()
    call_command("make_partitions", stdout=out)
    assert out.getvalue() == ""
