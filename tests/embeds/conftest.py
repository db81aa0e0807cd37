from __future__ import annotations

import pytest

from tests.admin.bystanders import unchanged

__all__ = ["unchanged"]


@pytest.fixture(autouse=True)
def _clear_salt_cache() -> None:
    """A process caches the salt of a day, but each test has an empty database."""
    # pytest imports the first of these files before Django is set up.
    from embeds.analytics import ingest

    ingest.cached.clear()
