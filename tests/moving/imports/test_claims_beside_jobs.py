"""A job that hides or restores all posts of an imported author, whom a person claims."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from messaging.admin.desk.running import run_to_end
from messaging.exceptions import AccountNotFound
from messaging.models import BulkJob, JobState, Message
from messaging.services.bulk_jobs import start_on_posts_of, start_undo, stop_job
from moving import claims
from moving.exceptions import PostsChanging
from moving.models import ImportedAuthor
from tests.agents.racing import race
from tests.factories import CommunityFactory, MessageFactory, SuperAdminFactory
from tests.moving.imports.generating import disqus
from tests.moving.imports.importing import import_posts
from tests.moving.imports.test_claims import PATH, client_of, person_with
from tests.sessions import wait_until_another_waits

pytestmark = pytest.mark.django_db
ADDRESS = "a1@big.example"


@pytest.fixture
def author(tmp_path: Path) -> ImportedAuthor:
    import_posts("disqus", disqus(tmp_path / "a.xml", posts=30, pages=2), CommunityFactory(), tmp_path / "r.csv")
    return ImportedAuthor.objects.get(email=ADDRESS)


@pytest.mark.parametrize("kind", [BulkJob.HIDE_POSTS, BulkJob.RESTORE_POSTS])
def test_a_claim_is_refused_while_a_job_changes_all_posts_of_the_author(kind: str, author: ImportedAuthor) -> None:
    person, posts = person_with(ADDRESS), Message.objects.filter(author=author.account).count()
    job = start_on_posts_of(author.account, kind=kind, by=SuperAdminFactory())
    with pytest.raises(PostsChanging):
        claims.claim(author_id=author.pk, person=person)
    response = client_of(person).post(PATH, {"author": author.pk})
    assert (response.status_code, "An administrator is changing these posts." in response.content.decode()) == (
        409,
        True,
    )
    assert Message.objects.filter(author=author.account).count() == posts
    assert run_to_end(job.pk).state == JobState.FINISHED
    assert claims.claim(author_id=author.pk, person=person)


def test_hidden_posts_stay_hidden_and_can_be_restored_together_after_a_claim(author: ImportedAuthor) -> None:
    person, boss = person_with(ADDRESS), SuperAdminFactory()
    job = run_to_end(start_on_posts_of(author.account, kind=BulkJob.HIDE_POSTS, by=boss).pk)
    assert claims.claim(author_id=author.pk, person=person)
    posts = Message.objects.filter(author=person)
    assert set(posts.values_list("status", flat=True)) == {"hidden"}
    undo = run_to_end(start_undo(job_id=job.pk, kind=BulkJob.RESTORE_POSTS, by=boss).pk)
    assert (undo.done, undo.about) == (posts.count(), person)
    assert set(posts.values_list("status", flat=True)) == {"published"}


def test_a_claim_goes_on_beside_the_undoing_of_a_job(author: ImportedAuthor) -> None:
    """It has the ids of its posts."""
    person, boss = person_with(ADDRESS), SuperAdminFactory()
    job = run_to_end(start_on_posts_of(author.account, kind=BulkJob.HIDE_POSTS, by=boss).pk)
    undo = start_undo(job_id=job.pk, kind=BulkJob.RESTORE_POSTS, by=boss)
    assert claims.claim(author_id=author.pk, person=person)
    assert run_to_end(undo.pk).done == job.done
    assert set(Message.objects.filter(author=person).values_list("status", flat=True)) == {"published"}


def test_a_stopped_job_does_not_go_on_with_other_posts_of_the_person(author: ImportedAuthor) -> None:
    person, boss = person_with(ADDRESS), SuperAdminFactory()
    own = MessageFactory(author=person)
    job = start_on_posts_of(author.account, kind=BulkJob.HIDE_POSTS, by=boss)
    stop_job(job_id=job.pk, by=boss)
    assert claims.claim(author_id=author.pk, person=person)
    job.refresh_from_db()
    assert (job.about, job.state, job.finished_at is None) == (person, JobState.FINISHED, False)
    own.refresh_from_db()
    assert own.status == "published"


@pytest.mark.django_db(transaction=True)
def test_a_job_that_starts_while_the_author_is_deleted_fails(
    author: ImportedAuthor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise it would be deleted after its super admin has been told that it was started."""
    person, boss, hand_over = person_with(ADDRESS), SuperAdminFactory(), claims.hand_over_jobs

    def start(_number: int) -> None:
        start_on_posts_of(author.account, kind=BulkJob.HIDE_POSTS, by=boss)

    with ThreadPoolExecutor(1) as pool:

        def hand_over_beside(*, of: UUID, to: UUID) -> None:
            hand_over(of=of, to=to)
            started.append(pool.submit(race, 1, start))
            wait_until_another_waits()

        started: list[Any] = []
        monkeypatch.setattr(claims, "hand_over_jobs", hand_over_beside)
        assert claims.claim(author_id=author.pk, person=person)
        with pytest.raises(AccountNotFound):
            started[0].result()
    assert not BulkJob.objects.exists()
