from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from django.test import Client

# Django is set up after the import of this file, so it cannot import models.
if TYPE_CHECKING:
    from messaging.models import Account


@pytest.fixture
def boss(db: Any) -> Account:
    from tests.factories import SuperAdminFactory

    account: Account = SuperAdminFactory()
    return account


@pytest.fixture
def admin_client(boss: Account) -> Client:
    """A client with the session of a super admin."""
    client = Client()
    client.force_login(boss)
    return client
