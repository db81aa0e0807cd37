from __future__ import annotations

from typing import Any

import pytest


@pytest.fixture
def oauth(settings: Any) -> None:
    settings.OAUTH = True
