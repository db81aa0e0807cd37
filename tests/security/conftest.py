"""The rows and callers of the authorisation table, made once for each module that uses them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.test import override_settings

from tests.module_rows import undone_after_module


@pytest.fixture(scope="module")
def world(django_db_setup: None, django_db_blocker: Any) -> Iterator[Any]:
    """Each test undoes what its calls change."""
    from tests.security.world import World  # Here: this file is read before the settings can be.

    quick = override_settings(PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"])
    with undone_after_module(django_db_blocker):
        with quick:
            world = World()
        yield world
