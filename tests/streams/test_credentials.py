"""Every end of a credential ends its streams, and only those. (The hub checks twice a second: `test_hub_failures`.)"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest
from django.utils import timezone

from agents.authentication import agent_credential, find
from agents.models import AgentToken
from agents.services import freeze_agent, narrow_agent, revoke_token
from kernel.api.credentials import Credential
from kernel.api.jwt import issue_user_token, person_credential
from kernel.changes.streams.hub import ended_credentials
from messaging.accounts.services import choose_password, suspend_person
from messaging.accounts.sessions import end_all_sessions, start_session
from messaging.models import Account
from tests.agents.factories import TokenHolder, agent_with_token
from tests.factories import CommunityFactory, PersonFactory, SuperAdminFactory

pytestmark = pytest.mark.django_db


def of_agent(holder: TokenHolder) -> Credential:
    return agent_credential(find(holder.value, None))


def of_person(person: Account, *, signed_in: bool = False) -> Credential:
    token = start_session(account=person).access if signed_in else str(issue_user_token(person))
    return person_credential(token, user_id=str(person.pk))


def expire(holder: TokenHolder) -> None:
    AgentToken.objects.filter(pk=holder.token.pk).update(expires_at=timezone.now() - timedelta(seconds=1))


def delete(holder: TokenHolder) -> None:
    AgentToken.objects.filter(pk=holder.token.pk).delete()


def revoke(holder: TokenHolder) -> None:
    revoke_token(token_id=holder.token.pk, by=holder.request.requester)


def freeze(holder: TokenHolder) -> None:
    freeze_agent(agent=holder.agent, by=SuperAdminFactory())


def narrow_scopes(holder: TokenHolder) -> None:
    narrow_agent(agent=holder.agent, by=SuperAdminFactory(), scopes=["react"])


def narrow_communities(holder: TokenHolder) -> None:
    (first, _second) = holder.agent.community_ids
    narrow_agent(agent=holder.agent, by=SuperAdminFactory(), community_ids=[first])


def suspend_operator(holder: TokenHolder) -> None:
    suspend_person(person=holder.request.requester, by=SuperAdminFactory())


def deactivate(holder: TokenHolder) -> None:
    Account.objects.filter(pk=holder.account.pk).update(is_active=False)


def suspend(person: Account) -> None:
    suspend_person(person=person, by=SuperAdminFactory())


def log_out_everywhere(person: Account) -> None:
    end_all_sessions(account=Account.objects.get(pk=person.pk))


def set_password(person: Account) -> None:
    choose_password(account=Account.objects.get(pk=person.pk), password="four plain quiet words")


@pytest.mark.parametrize(
    "cause",
    [revoke, expire, delete, freeze, narrow_scopes, narrow_communities, suspend_operator, deactivate],
    ids=lambda cause: cause.__name__,
)
def test_the_credential_of_an_agent_ends(cause: Callable[[TokenHolder], None]) -> None:
    communities = [CommunityFactory().pk for _ in range(2)]
    holder, other = (agent_with_token(community_ids=communities) for _ in range(2))
    ending, valid, person = of_agent(holder), of_agent(other), of_person(PersonFactory())
    assert ended_credentials([ending, valid, person]) == []
    cause(holder)
    assert ended_credentials([ending, valid, person]) == [ending]


@pytest.mark.parametrize("signed_in", [False, True], ids=["user token", "signed in"])
@pytest.mark.parametrize("cause", [suspend, log_out_everywhere, set_password], ids=lambda cause: cause.__name__)
def test_the_credential_of_a_person_ends(cause: Callable[[Account], None], signed_in: bool) -> None:
    person = PersonFactory()
    ending = of_person(person, signed_in=signed_in)
    valid, agent = of_person(PersonFactory(), signed_in=signed_in), of_agent(agent_with_token())
    assert ended_credentials([ending, valid, agent]) == []
    cause(person)
    assert ended_credentials([ending, valid, agent]) == [ending]


def test_the_expired_token_of_a_person_ends() -> None:
    credential = of_person(PersonFactory())
    expired = replace(credential, expires_at=timezone.now())
    assert ended_credentials([credential, expired]) == [expired]


def test_all_credentials_are_checked_with_one_query_per_kind(
    django_assert_num_queries: Callable[[int], object],
) -> None:
    credentials = [
        *(of_agent(agent_with_token()) for _ in range(3)),
        *(of_person(PersonFactory()) for _ in range(3)),
    ]
    with django_assert_num_queries(2):  # type: ignore[attr-defined]
        assert ended_credentials(credentials) == []
    with django_assert_num_queries(0):  # type: ignore[attr-defined]
        assert ended_credentials([]) == []
