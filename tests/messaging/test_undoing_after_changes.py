"""Undoing a decision opens the reports that it closed, also after a change of the post that is no decision."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.apps import apps

from kernel.jobs.queue import run_due
from messaging.models import Account, Message, PostsChoice, Report
from messaging.moderation.services import approve_message, hide_message, return_to_review, undo_hiding
from messaging.privacy.erasing import request_erasure
from moving import claims
from moving.models import ImportedAuthor, Move
from tests.api import Api
from tests.factories import CommunityFactory, MessageFactory, PersonFactory, SuperAdminFactory

pytestmark = pytest.mark.django_db


def edit(post: Message) -> None:
    assert Api.as_person(post.author).put(f"/api/messages/{post.pk}", {"content": "Second"}).status == 200


def erase_author(post: Message) -> None:
    erase(post, PostsChoice.ANONYMOUS)


def erase(post: Message, choice: PostsChoice) -> None:
    request_erasure(person=post.author, posts=choice, by=post.author, wait=timedelta())
    assert run_due("erasures") == 1


def claim(post: Message) -> None:
    person, address = PersonFactory(), "a1@big.example"
    apps.get_model("account", "EmailAddress").objects.create(user=person, email=address, verified=True, primary=True)
    community = post.community
    move = Move.objects.create(community=community, format="disqus", size=1, status="done")
    author = ImportedAuthor.objects.create(
        account=post.author, community=community, format="disqus", move=move, email=address
    )
    assert claims.claim(author_id=author.pk, person=person)


@pytest.fixture
def boss() -> Account:
    return SuperAdminFactory()


@pytest.fixture
def post() -> Message:
    message: Message = MessageFactory(community=CommunityFactory(reports_to_hide=1))
    return message


def report(post: Message) -> None:
    sent = {"reason": "spam"}
    assert Api.as_person(PersonFactory()).post(f"/api/messages/{post.pk}/report", sent).status == 200


def open_reports() -> int:
    return Report.objects.filter(closed_at=None).count()


@pytest.mark.parametrize("change", [edit, erase_author, claim])
def test_undoing_an_approval_after_a_change_opens_the_reports_that_it_closed_alone(
    boss: Account, post: Message, change: Callable[[Message], None]
) -> None:
    for reported in (MessageFactory(community=post.community), post, post):
        report(reported)
        approve_message(message_id=reported.pk, by=boss)
    approved = Message.objects.get(pk=post.pk)
    change(approved)
    assert Message.objects.get(pk=post.pk).updated_at > approved.updated_at
    assert open_reports() == 0
    return_to_review(message_id=post.pk, by=boss)
    assert open_reports() == 1
    assert Report.objects.get(closed_at=None).message_id == post.pk


def test_undoing_the_hiding_of_a_deleted_post_opens_no_reports(boss: Account, post: Message) -> None:
    report(post)
    hide_message(message_id=post.pk, by=boss)
    erase(post, PostsChoice.DELETED)
    assert undo_hiding(message_id=post.pk, by=boss).status == "deleted"
    assert open_reports() == 0
