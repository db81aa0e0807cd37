from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from django.test import Client

# Models cannot be imported before Django is set up, which is later than this file.
if TYPE_CHECKING:
    from messaging.models import Account


@pytest.fixture
def boss(db: Any) -> Account:
    from tests.factories import SuperAdminFactory

    account: Account = SuperAdminFactory()
    return account


@pytest.fixture
def admin_client(boss: Account) -> Client:
    """A super admin at the desk."""
    client = Client()
    client.force_login(boss)
    return client
