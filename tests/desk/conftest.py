from __future__ import annotations

from tests.admin.bystanders import unchanged
from tests.admin.conftest import admin_client, boss

__all__ = ["admin_client", "boss", "unchanged"]
