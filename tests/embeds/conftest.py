from __future__ import annotations

import pytest

from embeds.analytics import salts


@pytest.fixture(autouse=True)
def _no_salt_from_before() -> None:
    """A process remembers the salt of a day; each test has a database of its own."""
    salts.cached.clear()
