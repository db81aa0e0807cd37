"""The approval of an edit tells nobody again where the public versions of the post are not stored any more."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from kernel.database.sql import database_now
from kernel.jobs.queue import run_due
from messaging.models import Account, Message, MessageVersion, PostsChoice
from messaging.moderation.services import approve_message
from messaging.posts.editing import VERSION_DAYS, prune
from messaging.privacy.erasing import request_erasure
from tests.api import Api
from tests.changes.inbox import types
from tests.factories import CommunityFactory, PageFactory, PersonFactory, SuperAdminFactory

pytestmark = pytest.mark.django_db


def erase_author(author: Account) -> None:
    request_erasure(person=author, posts=PostsChoice.ANONYMOUS, by=author, wait=timedelta())
    assert run_due("erasures") == 1


def prune_versions(_author: Account) -> None:
    prune(now=database_now() + timedelta(days=VERSION_DAYS, minutes=1), dry_run=False)


@pytest.mark.parametrize("forget", [erase_author, prune_versions])
def test_an_approval_without_a_stored_public_version_tells_no_account(forget: Callable[[Account], None]) -> None:
    author, told, community = PersonFactory(), PersonFactory(), CommunityFactory()
    api, content = Api.as_person(author), f"Hello @{told.handle}"
    body = {"pageId": PageFactory().pk, "communityId": str(community.pk), "content": content}
    message = Message.objects.get(pk=api.post("/api/messages", body).json["id"])
    community.pre_moderation = "everyone"
    community.save()
    assert api.put(f"/api/messages/{message.pk}", {"content": f"{content}!"}).json["status"] == "pending"
    forget(author)
    assert not MessageVersion.objects.exists()
    approve_message(message_id=message.pk, by=SuperAdminFactory())
    assert Message.objects.get().status == "published"
    assert types(Api.as_person(told)) == ["mention"]
