from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

# If pytest runs this folder only, it imports this file before Django is set up, so fixtures import the models.
if TYPE_CHECKING:
    from messaging.models import Account, Message
    from tests.api import Api


@pytest.fixture
def post() -> Message:
    from tests.factories import MessageFactory

    return MessageFactory()


@pytest.fixture
def person() -> Account:
    from tests.factories import PersonFactory

    return PersonFactory()


@pytest.fixture
def api(person: Account) -> Api:
    """The person's client."""
    from tests.api import Api

    return Api.as_person(person)


@pytest.fixture
def agent() -> Api:
    """The client of an agent with every scope, in every community."""
    from tests.agents.factories import agent_with_token

    return agent_with_token().api
