"""A suspension revokes a person's sessions and agents at once; undoing it reactivates the agents."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.test import Client

from agents.services import freeze_agent
from messaging.accounts.exceptions import LastSuperAdmin, OwnAccount, PersonNotFound
from messaging.accounts.services import suspend_person, unsuspend_person
from messaging.models import Account, PostsChoice
from messaging.privacy.erasing import cancel_erasure, request_erasure
from tests.admin.pages import decide, page
from tests.agents.factories import TokenHolder, agent_with_token
from tests.agents.racing import race
from tests.api import Api
from tests.commands.running import refused, run, run_json
from tests.factories import AgentAccountFactory, PersonFactory, SuperAdminFactory
from tests.messaging.test_sessions import Session

SUSPENDED, UNSUSPENDED = "Suspended (active → suspended): Spam", "Unsuspended (suspended → active)."
pytestmark = pytest.mark.django_db
PASSWORD = "correct horse battery"
REFUSED = [(401, "invalid_token")] * 3


@pytest.fixture
def boss() -> Account:
    return SuperAdminFactory(password=PASSWORD)


@pytest.fixture
def ada() -> Account:
    return PersonFactory(handle="ada_l", password=PASSWORD)


@pytest.fixture
def helper(ada: Account) -> TokenHolder:
    return agent_with_token(requester=ada)


def login(handle: str) -> tuple[int, str | None]:
    response = Api().post("/api/auth/login", {"handle": handle, "password": PASSWORD})
    return response.status, response.json.get("error")


def works(agent: TokenHolder) -> tuple[int, str | None]:
    response = agent.api.get("/v1/agent/self")
    return response.status, response.json.get("error")


def test_suspension_ends_sessions_and_stops_agents(ada: Account, boss: Account, helper: TokenHolder) -> None:
    session, other, bystander = Session(), agent_with_token(), Session(PersonFactory(password=PASSWORD).handle)
    suspend_person(person=ada, by=boss, reason="Spam")
    assert session.results() == REFUSED
    assert login("ada_l") == (401, "invalid_credentials")
    assert works(helper) == (401, "agent_suspended")
    body = {"messageId": "0199f000-0000-7000-8000-000000000000", "emoji": "👍"}
    assert helper.api.post("/v1/reactions", body).error == "agent_suspended"
    assert works(other) == (200, None)
    assert bystander.results() == [(200, None)] * 3


def test_undoing_a_suspension_reactivates_agents_but_no_sessions(
    ada: Account, boss: Account, helper: TokenHolder
) -> None:
    session = Session()
    suspend_person(person=ada, by=boss, reason="Spam")
    unsuspend_person(person=ada, by=boss)
    assert works(helper) == (200, None)
    assert session.results() == [(401, "token_revoked")] * 3, "old tokens stay revoked, because they may be stolen"
    assert Session().results() == [(200, None)] * 3


def test_agents_of_an_inactive_account_are_refused(ada: Account, helper: TokenHolder) -> None:
    other = agent_with_token()
    Account.objects.filter(pk=ada.pk).update(is_active=False)
    assert (works(helper), works(other)) == ((401, "agent_suspended"), (200, None))


def test_undoing_a_suspension_does_not_unfreeze_agents(ada: Account, boss: Account, helper: TokenHolder) -> None:
    freeze_agent(agent=helper.agent, by=boss, reason="Flood")
    suspend_person(person=ada, by=boss)
    unsuspend_person(person=ada, by=boss)
    assert works(helper) == (401, "agent_suspended")


def test_suspension_ends_admin_sessions(boss: Account) -> None:
    other, client = SuperAdminFactory(password=PASSWORD), Client()
    client.post("/account/sign-in/", {"login": other.handle, "password": PASSWORD})
    assert client.get("/admin/").status_code == 200
    suspend_person(person=other, by=boss)
    assert client.get("/admin/").status_code == 302
    unsuspend_person(person=other, by=boss)
    assert client.get("/admin/").status_code == 302, "the session stays ended"


def test_oneself_an_agent_and_the_last_active_super_admin_cannot_be_suspended(boss: Account, ada: Account) -> None:
    other, agent = SuperAdminFactory(), AgentAccountFactory()
    with pytest.raises(OwnAccount):
        suspend_person(person=boss, by=boss)
    with pytest.raises(PersonNotFound):
        suspend_person(person=agent, by=boss)
    suspend_person(person=other, by=boss)
    with pytest.raises(LastSuperAdmin):
        suspend_person(person=boss, by=ada)
    assert list(Account.objects.filter(is_active=False)) == [other]


def test_a_super_admin_who_waits_for_an_erasure_is_no_active_one(boss: Account, ada: Account) -> None:
    leaving = SuperAdminFactory()
    request_erasure(person=leaving, posts=PostsChoice.ANONYMOUS, by=leaving)
    with pytest.raises(LastSuperAdmin):
        suspend_person(person=boss, by=ada)
    assert Account.objects.get(pk=boss.pk).is_active
    cancel_erasure(person=leaving, by=leaving)
    suspend_person(person=boss, by=leaving)


def test_a_super_admin_who_waits_for_an_erasure_can_be_suspended(boss: Account) -> None:
    leaving = SuperAdminFactory()
    request_erasure(person=leaving, posts=PostsChoice.ANONYMOUS, by=leaving)
    assert not suspend_person(person=leaving, by=boss).is_active


@pytest.mark.django_db(transaction=True)
def test_one_of_super_admins_who_suspend_each_other_concurrently_stays_active() -> None:
    admins = [SuperAdminFactory() for _ in range(4)]

    def suspend(index: int) -> None:
        try:
            suspend_person(person=admins[index], by=admins[index - 1])
        except LastSuperAdmin:
            return

    race(4, suspend)
    assert Account.objects.filter(is_superuser=True, is_active=True).count() == 1


def test_each_suspension_is_logged_once(ada: Account, boss: Account) -> None:
    for _ in range(2):
        suspend_person(person=ada, by=boss, reason="Spam")
    for _ in range(2):
        unsuspend_person(person=ada, by=boss)
    entries = LogEntry.objects.order_by("pk").values_list("user", "object_id", "change_message")
    assert list(entries) == [(boss.pk, str(ada.pk), SUSPENDED), (boss.pk, str(ada.pk), UNSUSPENDED)]


class TestAdmin:
    @pytest.fixture
    def admin_client(self, boss: Account) -> Client:
        client = Client()
        client.force_login(boss)
        return client

    def test_suspends_with_a_reason_and_unsuspends(
        self, admin_client: Client, ada: Account, helper: TokenHolder
    ) -> None:
        assert "This field is required" in decide(admin_client, ada, "suspend", reason=" ")
        bystander = agent_with_token()
        assert "suspended" in decide(admin_client, ada, "suspend", reason="Spam")
        assert (works(helper), works(bystander)) == ((401, "agent_suspended"), (200, None))
        text = admin_client.get(page(ada)).content.decode()
        assert SUSPENDED in text
        assert page(ada, "suspend") not in text
        decide(admin_client, ada, "unsuspend")
        assert works(helper) == (200, None)

    def test_neither_a_get_request_nor_a_suspension_of_oneself_changes_anything(
        self, admin_client: Client, ada: Account, boss: Account
    ) -> None:
        for decision in ("suspend", "unsuspend"):
            assert admin_client.get(page(ada, decision)).status_code == 200
        assert "own account" in decide(admin_client, boss, "suspend", reason="Oops")
        assert not Account.objects.filter(is_active=False).exists()
        assert admin_client.get("/admin/").status_code == 200

    def test_agents_have_no_suspend_action(self, admin_client: Client, helper: TokenHolder) -> None:
        text = admin_client.get(page(helper.account)).content.decode()
        assert page(helper.account, "suspend") not in text
        assert "Nothing was changed" in decide(admin_client, helper.account, "suspend", reason="No")
        assert works(helper) == (200, None)

    def test_the_page_of_an_agent_shows_that_its_operator_is_suspended(
        self, admin_client: Client, ada: Account, boss: Account, helper: Any
    ) -> None:
        suspend_person(person=ada, by=boss, reason="Spam")
        assert "operator suspended" in admin_client.get(page(helper.agent)).content.decode()


class TestCommand:
    def test_the_command_suspends_and_unsuspends(self, ada: Account, boss: Account, helper: TokenHolder) -> None:
        bystander = agent_with_token()
        for _ in range(2):
            printed = run_json("suspend_person", "ada_l", "--reason", "Spam", "--json")
            account = {"id": str(ada.pk), "name": ada.name, "handle": "ada_l", "kind": "human"}
            assert printed == account | {"suspended": True}
        assert (works(helper), works(bystander)) == ((401, "agent_suspended"), (200, None))
        for _ in range(2):
            assert "ada_l" in run("suspend_person", "ada_l", "--undo", "--by", boss.handle)
        assert works(helper) == (200, None)
        entries = LogEntry.objects.filter(object_id=str(ada.pk)).order_by("pk")
        logged = list(entries.values_list("user__handle", "change_message"))
        assert logged == [("command-line", SUSPENDED), (boss.handle, UNSUSPENDED)]

    def test_a_reason_may_have_500_characters(self, ada: Account) -> None:
        run("suspend_person", "ada_l", "--reason", "x" * 500)
        ada.refresh_from_db()
        assert not ada.is_active

    def test_the_command_refuses_invalid_arguments(self, boss: Account, ada: Account) -> None:
        agent = AgentAccountFactory()
        assert "does not exist" in refused("suspend_person", "nobody_here", "--reason", "x")
        assert "does not exist" in refused("suspend_person", agent.handle, "--reason", "x")
        assert "--reason" in refused("suspend_person", "ada_l")
        assert "--reason" in refused("suspend_person", "ada_l", "--reason", "x" * 501)
        assert "last_super_admin" in refused("suspend_person", boss.handle, "--reason", "x")
        assert "own_account" in refused("suspend_person", boss.handle, "--reason", "x", "--by", boss.handle)
        assert Account.objects.filter(is_active=True).count() == 3
