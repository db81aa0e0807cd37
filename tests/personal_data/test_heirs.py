"""The accounts that take over what erased people leave are no people: nothing can be decided on all of them at once."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client

from desk.records import RecordForm
from kernel.jobs.queue import run_due
from messaging.accounts.exceptions import PersonNotFound
from messaging.accounts.services import suspend_person, unsuspend_person
from messaging.communities.moderators import add_moderator
from messaging.communities.services import create_community
from messaging.models import Account, BulkJob, Message, PostsChoice
from messaging.moderation.exceptions import AccountNotFound
from messaging.privacy.erasing import heirs, request_erasure
from tests.commands.running import refused
from tests.factories import CommunityFactory, MessageFactory, SuperAdminFactory
from tests.hiding import hide_posts_of, restore_posts_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def boss() -> Account:
    return SuperAdminFactory()


@pytest.fixture(params=["human", "agent"])
def heir(request: pytest.FixtureRequest) -> Account:
    return Account.objects.get(pk=heirs()[request.param])


def test_the_posts_of_all_erased_people_are_not_restored_or_hidden_together(boss: Account) -> None:
    post = MessageFactory()
    hide_posts_of(author=post.author, by=boss)
    request_erasure(person=post.author, posts=PostsChoice.ANONYMOUS, by=post.author, wait=timedelta())
    assert run_due("erasures") == 1
    heir = Message.objects.get().author
    for decide in (restore_posts_of, hide_posts_of):
        with pytest.raises(AccountNotFound):
            decide(author=heir, by=boss)
    assert Message.objects.get().status == "hidden"
    assert not BulkJob.objects.filter(about=heir).exists()


def test_an_heir_is_not_suspended_reactivated_or_erased(heir: Account, boss: Account) -> None:
    for decide in (suspend_person, unsuspend_person):
        with pytest.raises(PersonNotFound):
            decide(person=heir, by=boss)
    with pytest.raises(PersonNotFound):
        request_erasure(person=heir, posts=PostsChoice.DELETED, by=boss)
    assert not Account.objects.get(pk=heir.pk).is_active


def test_the_admin_offers_nothing_on_an_heir(heir: Account, boss: Account, client: Client) -> None:
    post = MessageFactory(author=heir, author_kind=heir.kind, community=CommunityFactory())
    MessageFactory(author=heir, author_kind=heir.kind, status="hidden", status_before_hiding="published")
    client.force_login(boss)
    for page in (f"account/{heir.pk}/change/", "message/", f"message/{post.pk}/change/"):
        shown = client.get(f"/admin/messaging/{page}").content.decode()
        for action in ("suspend", "unsuspend", "hide-posts", "restore-posts"):
            assert f"{heir.pk}/{action}/" not in shown
        assert "Export the whole record" not in shown
        assert f"{post.pk}/ban/" not in shown


def test_an_heir_is_no_moderator_and_its_record_is_not_exported(heir: Account, boss: Account) -> None:
    Account.objects.filter(pk=heir.pk).update(is_active=True)
    community = create_community(owner=boss, name="Harbours")
    with pytest.raises(PersonNotFound):
        add_moderator(community_id=community.pk, handle=heir.handle, by=boss)
    assert "account" in RecordForm({"account": heir.handle, "reason": "x"}).errors


def test_no_command_takes_an_heir(heir: Account) -> None:
    # As one that an earlier release has reactivated.
    Account.objects.filter(pk=heir.pk).update(is_active=True)
    for name, *options in (
        ("suspend_person", "--reason", "x"),
        ("hide_posts", "--reason", "x"),
        ("hide_posts", "--undo"),
        ("erase_person", "--posts", "deleted", "--now"),
        ("export_person", "--output", "unwritten.zip"),
        ("create_person", "--password", "correct horse battery"),
        ("issue_user_token",),
    ):
        assert "deleted-" in refused(name, heir.handle, *options) or name == "create_person"
    assert not Account.objects.get(pk=heir.pk).has_usable_password()
