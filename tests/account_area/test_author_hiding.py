"""A moderator hides all posts of an author in one community, and undoes it: other communities are bystanders."""

from __future__ import annotations

from uuid import UUID

import pytest
from django.contrib.admin.models import LogEntry

from kernel.api.exceptions import NotFound
from kernel.jobs.queue import run_due
from messaging.communities.moderators import add_moderator
from messaging.communities.services import create_community
from messaging.models import Account, BulkJob, Community, Decision, Message, Moderator
from messaging.models.moderation import open_reports
from messaging.moderation.bulk_jobs import start_on_posts_of
from messaging.moderation.exceptions import AccountNotFound, JobNotUndoable, ModeratorRequired
from messaging.moderation.lists.running import run_slice, run_to_end
from messaging.moderation.moderators import hide_author, undo_hide_author
from messaging.moderation.reporting import report_message
from messaging.moderation.services import hide_message, restore_message
from messaging.posts.exceptions import CommunityNotFound, NotInThisState
from messaging.privacy.erasing import heirs
from tests.admin.bystanders import Unchanged
from tests.agents.racing import race
from tests.factories import CommunityFactory, MessageFactory, PersonFactory, SuperAdminFactory
from tests.messaging.test_hiding import states, wrong_counts

pytestmark = pytest.mark.django_db
NOBODYS = UUID("01890a5d-ac96-774b-bcce-b302099a8057")


@pytest.fixture
def owner() -> Account:
    return PersonFactory()


@pytest.fixture
def community(owner: Account) -> Community:
    return create_community(owner=owner, name="Harbour")


@pytest.fixture
def author() -> Account:
    return PersonFactory()


def hide_all(community: Community, author: Account, by: Account, reason: str = "Spam.") -> BulkJob:
    return run_to_end(hide_author(community_id=community.pk, account_id=author.pk, by=by, reason=reason).pk)


def undo(community: Community, job: BulkJob, by: Account) -> BulkJob:
    return run_to_end(undo_hide_author(community_id=community.pk, job_id=job.pk, by=by).pk)


def test_all_posts_of_the_author_here_are_hidden_and_nothing_else(
    community: Community, author: Account, owner: Account, unchanged: Unchanged
) -> None:
    here = [MessageFactory(author=author, community=community, status=status) for status in ("published", "pending")]
    unchanged(
        MessageFactory(author=author, community=community, status="deleted"),
        MessageFactory(author=author, community=create_community(owner=owner, name="Another of theirs")),
        MessageFactory(author=author, community=None),
        MessageFactory(community=community),
    )
    job = hide_all(community, author, owner)
    assert (job.done, job.refused, job.community) == (2, 0, community)
    assert states(*here) == ["hidden", "hidden"]
    decision = Decision.objects.filter(community=community).exclude(act="created").get()
    assert (decision.act, decision.account, decision.by, decision.reason) == ("hidden", author, owner, "Spam.")
    assert not Decision.objects.exclude(community=community).exclude(act="created").exists()
    assert LogEntry.objects.filter(change_message=f"All posts by {author} hidden (2): Spam.").count() == 1
    assert wrong_counts() == []


def test_undoing_it_returns_each_post_to_its_status_unless_it_was_decided_on_since(
    community: Community, author: Account, owner: Account, unchanged: Unchanged
) -> None:
    shown, waiting, again = (
        MessageFactory(author=author, community=community, status=status)
        for status in ("published", "pending", "published")
    )
    unchanged(MessageFactory(author=author, community=community, status="hidden"))
    report_message(message_id=shown.pk, by=PersonFactory(), reason="spam", transaction=None)  # type: ignore[arg-type]
    job = hide_all(community, author, owner)
    assert not open_reports().exists()
    restore_message(message_id=again.pk, by=owner)
    hide_message(message_id=again.pk, by=owner, reason="Rude.")
    undone = undo(community, job, owner)
    assert (undone.done, undone.refused, undone.community) == (2, 1, community)
    assert states(shown, waiting, again) == ["published", "pending", "hidden"]
    assert open_reports().count() == 1
    assert Decision.objects.filter(community=community, act="restored", account=author, by=owner).count() == 1


def test_it_is_undone_once(community: Community, author: Account, owner: Account) -> None:
    post = MessageFactory(author=author, community=community)
    job = hide_all(community, author, owner)
    undo(community, job, owner)
    hide_message(message_id=post.pk, by=owner)
    with pytest.raises(JobNotUndoable):
        undo(community, job, owner)
    assert states(post) == ["hidden"]


def test_only_moderators_of_the_community_do_it(community: Community, author: Account, unchanged: Unchanged) -> None:
    unchanged(MessageFactory(author=author, community=community))
    moderator_elsewhere = PersonFactory()
    create_community(owner=moderator_elsewhere, name="Elsewhere")
    for by in (author, moderator_elsewhere):
        with pytest.raises(ModeratorRequired):
            hide_all(community, author, by)
        with pytest.raises(ModeratorRequired):
            undo_hide_author(community_id=community.pk, job_id=NOBODYS, by=by)
    assert not BulkJob.objects.exists()


def test_super_admins_do_it_in_every_community(community: Community, author: Account) -> None:
    post = MessageFactory(author=author, community=community)
    hide_all(community, author, SuperAdminFactory())
    assert states(post) == ["hidden"]


def test_it_needs_a_community_an_author_and_a_post(community: Community, author: Account, owner: Account) -> None:
    MessageFactory(author=author)
    with pytest.raises(NotInThisState):
        hide_all(community, author, owner)
    with pytest.raises(CommunityNotFound):
        hide_author(community_id=NOBODYS, account_id=author.pk, by=owner, reason="Spam.")
    heir = heirs()["human"]
    MessageFactory(author_id=heir, community=community)
    for account_id in (NOBODYS, heir):
        with pytest.raises(AccountNotFound):
            hide_author(community_id=community.pk, account_id=account_id, by=owner, reason="Spam.")
    assert not BulkJob.objects.exists()


def test_jobs_of_super_admins_and_of_other_communities_are_not_undone(
    community: Community, author: Account, owner: Account
) -> None:
    posts = [MessageFactory(author=author, community=place) for place in (CommunityFactory(), community)]
    boss = SuperAdminFactory()
    elsewhere = hide_all(posts[0].community, author, boss)
    of_all = run_to_end(start_on_posts_of(author, kind=BulkJob.HIDE_POSTS, by=boss, reason="Spam.").pk)
    for job_id in (elsewhere.pk, of_all.pk, NOBODYS):
        with pytest.raises(NotFound):
            undo_hide_author(community_id=community.pk, job_id=job_id, by=owner)
    assert states(*posts) == ["hidden", "hidden"]


@pytest.mark.django_db(transaction=True)
def test_two_moderators_at_once_hide_each_post_once(author: Account, owner: Account) -> None:
    community = create_community(owner=owner, name="Busy")
    helper = PersonFactory()
    add_moderator(community_id=community.pk, handle=helper.handle, by=owner)
    parent = MessageFactory(community=community)
    posts = MessageFactory.create_batch(4, author=author, community=community, parent=parent, page=parent.page)

    def one(number: int) -> int:
        try:
            return hide_all(community, author, (owner, helper)[number]).done
        except NotInThisState:
            return 0

    assert sum(race(2, one)) == len(posts)
    assert set(states(*posts)) == {"hidden"}
    assert wrong_counts() == []


def test_many_posts_are_hidden_in_batches_after_the_request(
    community: Community, author: Account, owner: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("messaging.moderation.lists.running.BATCH", 2)
    posts = MessageFactory.create_batch(5, author=author, community=community)
    job = hide_author(community_id=community.pk, account_id=author.pk, by=owner, reason="Spam.")
    assert run_slice(job.pk, seconds=-1).done == 2
    with pytest.raises(JobNotUndoable):
        undo_hide_author(community_id=community.pk, job_id=job.pk, by=owner)
    later = MessageFactory(author=author, community=community)
    assert run_due("desk_jobs") == 1
    assert set(states(*posts)) == {"hidden"}
    assert states(later) == ["published"]


def test_a_job_of_who_does_not_moderate_any_more_stops(
    community: Community, author: Account, owner: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("messaging.moderation.lists.running.BATCH", 1)
    MessageFactory.create_batch(2, author=author, community=community)
    job = hide_author(community_id=community.pk, account_id=author.pk, by=owner, reason="Spam.")
    run_slice(job.pk, seconds=-1)
    Moderator.objects.filter(community=community).delete()
    ended = run_to_end(job.pk)
    assert (ended.state, ended.done) == ("stopped", 1)


def test_a_job_takes_the_newest_posts_up_to_a_number(
    community: Community, author: Account, owner: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It names its posts, so that an earlier release, which knows no community of a job, hides no others."""
    monkeypatch.setattr("messaging.moderation.bulk_jobs.ROWS_MAX", 2)
    posts = MessageFactory.create_batch(3, author=author, community=community)
    job = hide_all(community, author, owner)
    assert set(BulkJob.objects.get(pk=job.pk).ids) == {post.pk for post in posts[1:]}
    assert states(*posts) == ["published", "hidden", "hidden"]
    assert Message.objects.filter(status="hidden").count() == 2
