from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from django.test import Client

from tests.admin.bystanders import unchanged
from tests.module_rows import undone_after_module

# Django is set up after the import of this file, so it cannot import models.
if TYPE_CHECKING:
    from messaging.models import Account
    from tests.admin.every_page import EveryPage

__all__ = ["unchanged"]


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


@pytest.fixture(scope="module")
def every_page(django_db_setup: None, django_db_blocker: Any) -> Iterator[EveryPage]:
    """Rows of every model, which all tests of a module share; what a test changes is undone."""
    from tests.admin.every_page import EveryPage

    with undone_after_module(django_db_blocker), pytest.MonkeyPatch.context() as patch:
        # The use of a token is written in this transaction, not in a thread.
        patch.setattr("django.conf.settings.TOKEN_USE_SECONDS", 0)
        rows = EveryPage()
        patch.undo()
        yield rows
