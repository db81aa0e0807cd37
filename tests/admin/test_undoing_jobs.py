"""Undoing a job, or an action on a list, changes the rows that it changed, and no other."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from agents.models import AgentRequest
from agents.services import reject_request
from messaging.admin.desk.running import run_slice, run_to_end
from messaging.exceptions import JobNotUndoable
from messaging.models import Account, BulkJob, ChangedRow, Message, Report
from messaging.services.bulk_jobs import STORED_DAYS, prune, start_job, start_on_posts_of, start_undo, stop_job
from messaging.services.moderation import approve_message, hide_message, restore_message
from messaging.services.reporting import dismiss_reports, reopen_reports
from messaging.services.undoing import return_to_review
from tests.admin.pages import decide, page, read
from tests.agents.factories import RequestFactory
from tests.agents.racing import race
from tests.api import Api
from tests.factories import MessageFactory, PersonFactory, SuperAdminFactory

pytestmark = pytest.mark.django_db


def a_job(rows: list[Any], action: str, boss: Account) -> BulkJob:
    kind = f"{rows[0]._meta.label_lower}:{action}"
    return start_job(kind=kind, label=action, ids=[row.pk for row in rows], by=boss, reason="Spam.")


def undone(client: Client, job: BulkJob) -> BulkJob:
    """The finished job that undoes this one."""
    assert "is being undone by another job" in decide(client, job, "undo")
    return run_to_end(BulkJob.objects.latest("created_at").pk)


def statuses(rows: list[Any]) -> list[str]:
    return [type(row).objects.get(pk=row.pk).status for row in rows]


def report(message: Message) -> None:
    answer = Api.as_person(PersonFactory()).post(f"/api/messages/{message.pk}/report", {"reason": "abuse"})
    assert answer.status == 200


def open_reports(message: Message) -> int:
    return Report.objects.filter(message=message, closed_at=None).count()


def posts(status: str) -> list[Any]:
    return list(MessageFactory.create_batch(3, status=status))


class TestRefusedRows:
    @pytest.mark.parametrize(
        ("action", "before", "by_other"),
        [
            ("hide", "published", hide_message),
            ("restore", "hidden", restore_message),
            ("approve", "pending", approve_message),
        ],
    )
    def test_a_post_that_the_job_was_refused_stays_as_another_moderator_left_it(
        self, admin_client: Client, boss: Account, action: str, before: str, by_other: Callable[..., Message]
    ) -> None:
        rows = posts(before)
        job = a_job(rows, action, boss)
        after = by_other(message_id=rows[1].pk, by=boss).status
        done = run_to_end(job.pk)
        assert (done.done, done.refused, statuses(rows)) == (2, 1, [after] * 3)
        undoing = undone(admin_client, done)
        assert (undoing.total, undoing.done, undoing.refused) == (2, 2, 0)
        assert statuses(rows) == [before, after, before]

    def test_an_agent_request_that_another_admin_rejected_stays_rejected(
        self, admin_client: Client, boss: Account
    ) -> None:
        rows: list[AgentRequest] = RequestFactory.create_batch(3)
        job = a_job(rows, "reject", boss)
        reject_request(request_id=rows[0].pk, by=boss, reason="Mine.")
        undone(admin_client, run_to_end(job.pk))
        assert statuses(rows) == ["rejected", "pending", "pending"]

    def test_a_list_leaves_rows_that_it_was_refused(self, admin_client: Client, boss: Account) -> None:
        rows = posts("published")
        hide_message(message_id=rows[2].pk, by=boss)
        undo_list(admin_client, rows, "hide", "2 messages: hidden")
        assert statuses(rows) == ["published", "published", "hidden"]


class TestLaterDecisions:
    """Of another moderator, after the job: they stay, although the status is that of the job again."""

    @pytest.mark.parametrize(
        ("action", "before", "later"),
        [
            ("hide", "published", (restore_message, hide_message)),
            ("restore", "hidden", (hide_message, restore_message)),
            ("approve", "pending", (return_to_review, approve_message)),
        ],
    )
    def test_a_job_is_not_undone_for_a_post_on_which_another_moderator_has_decided_since(
        self, admin_client: Client, boss: Account, action: str, before: str, later: tuple[Callable[..., Message], ...]
    ) -> None:
        rows, other = posts(before), SuperAdminFactory()
        job = run_to_end(a_job(rows, action, boss).pk)
        for decide_again in later:
            after = decide_again(message_id=rows[1].pk, by=other).status
        undoing = undone(admin_client, job)
        assert (undoing.done, undoing.refused) == (2, 1)
        assert undoing.errors == [f"{rows[1].pk}: message state changed (status: {after})"]
        assert statuses(rows) == [before, after, before]

    def test_a_list_leaves_a_post_on_which_another_moderator_has_decided_since(
        self, admin_client: Client, boss: Account
    ) -> None:
        rows, other = posts("published"), SuperAdminFactory()

        def hide_again() -> None:
            restore_message(message_id=rows[1].pk, by=other)
            hide_message(message_id=rows[1].pk, by=other, reason="Mine.")

        undo_list(admin_client, rows, "hide", "3 messages: hidden", before_undo=hide_again)
        assert statuses(rows) == ["published", "hidden", "published"]

    def test_an_edit_after_the_job_is_no_decision(self, admin_client: Client, boss: Account) -> None:
        rows = posts("pending")
        job = run_to_end(a_job(rows, "approve", boss).pk)
        edited = Api.as_person(rows[1].author).put(f"/api/messages/{rows[1].pk}", {"content": "Second"})
        assert edited.status == 200
        assert undone(admin_client, job).done == 3
        assert statuses(rows) == ["pending"] * 3

    @pytest.mark.parametrize("kind", [BulkJob.HIDE_POSTS, BulkJob.RESTORE_POSTS])
    def test_a_later_job_on_all_posts_of_the_author_is_a_later_decision(
        self, admin_client: Client, boss: Account, kind: str
    ) -> None:
        author = PersonFactory()
        rows = MessageFactory.create_batch(2, author=author)
        if kind == BulkJob.RESTORE_POSTS:
            run_to_end(start_on_posts_of(author, kind=BulkJob.HIDE_POSTS, by=boss).pk)
        job = run_to_end(start_on_posts_of(author, kind=kind, by=boss).pk)
        after = statuses(rows)
        for again in sorted({BulkJob.HIDE_POSTS, BulkJob.RESTORE_POSTS}, key=lambda one: one == kind):
            run_to_end(start_on_posts_of(author, kind=again, by=boss).pk)
        undoing = undone(admin_client, job)
        assert (undoing.done, undoing.refused, statuses(rows)) == (0, 2, after)

    def test_a_job_of_an_undo_on_a_whole_list_is_refused_after_a_later_decision(
        self, admin_client: Client, boss: Account, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("messaging.admin.desk.many.BULK_MAX", 1)
        rows, other = posts("published"), SuperAdminFactory()
        for row in rows:
            hide_message(message_id=row.pk, by=other, reason="Theirs.")
        sent = {"action": "undo-hiding", "select_across": "1", "_selected_action": [str(rows[0].pk)]}
        sent |= {"confirmed": "1", "counted": str(len(rows)), "reason": ""}
        admin_client.post(f"{page(Message, 'changelist')}?status__exact=hidden", sent)
        restore_message(message_id=rows[0].pk, by=other)
        hide_message(message_id=rows[0].pk, by=other, reason="For another reason.")
        job = run_to_end(BulkJob.objects.get().pk)
        assert (job.done, job.refused) == (len(rows) - 1, 1)
        assert statuses(rows) == ["hidden"] + ["published"] * (len(rows) - 1)


class TestInterruptions:
    def test_a_job_that_was_interrupted_and_continued_is_undone_as_a_whole(
        self, admin_client: Client, boss: Account, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        rows = posts("published")
        job = a_job(rows, "hide", boss)
        hide_message(message_id=rows[0].pk, by=boss)
        run_slice(job.pk, seconds=-1)
        crash(job, monkeypatch)
        stop_job(job_id=job.pk, by=boss)
        decide(admin_client, job, "continue")
        assert run_to_end(job.pk).done == 2
        undone(admin_client, job)
        assert statuses(rows) == ["hidden", "published", "published"]

    def test_what_a_stopped_job_changes_after_it_was_undone_is_undone_by_itself(
        self, admin_client: Client, boss: Account
    ) -> None:
        rows = posts("published")
        job = a_job(rows, "hide", boss)
        run_slice(job.pk, seconds=-1)
        stop_job(job_id=job.pk, by=boss)
        undone(admin_client, job)
        hide_message(message_id=rows[0].pk, by=boss)
        decide(admin_client, job, "continue")
        run_to_end(job.pk)
        assert undone(admin_client, job).total == 2
        assert statuses(rows) == ["hidden", "published", "published"]

    def test_a_batch_of_posts_is_changed_counted_and_recorded_or_none_of_it(
        self, admin_client: Client, boss: Account, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("messaging.admin.desk.running.BATCH", 2)
        author = PersonFactory()
        rows = MessageFactory.create_batch(5, author=author)
        job = start_on_posts_of(author, kind=BulkJob.HIDE_POSTS, by=boss, reason="Spam.")
        run_slice(job.pk, seconds=-1)
        crash(job, monkeypatch)
        assert sum(status == "hidden" for status in statuses(rows)) == 2
        done = run_to_end(job.pk)
        assert (done.done, statuses(rows)) == (5, ["hidden"] * 5)
        monkeypatch.setattr("messaging.admin.desk.jobs.run_slice", lambda pk: run_slice(pk, seconds=-1))
        decide(admin_client, job, "undo")
        undoing = BulkJob.objects.latest("created_at")
        crash(undoing, monkeypatch)
        assert statuses(rows).count("published") == 2
        stop_job(job_id=undoing.pk, by=boss)
        decide(admin_client, undoing, "continue")
        undoing = run_to_end(undoing.pk)
        assert (undoing.done, undoing.refused) == (5, 0)
        assert statuses(rows) == ["published"] * 5


class TestPostsOfAnAuthor:
    def test_undoing_a_restoring_leaves_posts_that_it_did_not_restore(
        self, admin_client: Client, boss: Account, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("messaging.admin.desk.running.BATCH", 2)
        author = PersonFactory()
        rows = [*MessageFactory.create_batch(2, author=author), MessageFactory(author=author, status="pending")]
        run_to_end(start_on_posts_of(author, kind=BulkJob.HIDE_POSTS, by=boss).pk)
        never_hidden = MessageFactory(author=author)
        restoring = run_to_end(start_on_posts_of(author, kind=BulkJob.RESTORE_POSTS, by=boss).pk)
        later = [MessageFactory(author=author, status=status) for status in ("published", "pending")]
        assert undone(admin_client, restoring).done == 3
        assert statuses(rows) == ["hidden"] * 3
        assert statuses([never_hidden, *later]) == ["published", "published", "pending"]
        assert "Restoring of posts undone (3)" in read(admin_client, author)

    def test_undoing_a_second_hiding_leaves_the_first(self, admin_client: Client, boss: Account) -> None:
        author = PersonFactory()
        first = MessageFactory(author=author)
        run_to_end(start_on_posts_of(author, kind=BulkJob.HIDE_POSTS, by=boss).pk)
        second = MessageFactory(author=author)
        job = run_to_end(start_on_posts_of(author, kind=BulkJob.HIDE_POSTS, by=boss).pk)
        undoing = undone(admin_client, job)
        assert (undoing.kind, undoing.total, undoing.done) == (BulkJob.RESTORE_POSTS, 1, 1)
        assert statuses([first, second]) == ["hidden", "published"]
        # Which can be undone in turn.
        assert undone(admin_client, undoing).done == 1
        assert statuses([first, second]) == ["hidden", "hidden"]

    def test_a_post_on_which_a_moderator_has_decided_since_is_refused(
        self, admin_client: Client, boss: Account, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("messaging.admin.desk.running.BATCH", 2)
        author = PersonFactory()
        rows = MessageFactory.create_batch(5, author=author)
        job = run_to_end(start_on_posts_of(author, kind=BulkJob.HIDE_POSTS, by=boss).pk)
        for row in rows[:2]:
            restore_message(message_id=row.pk, by=boss)
        hide_message(message_id=rows[0].pk, by=boss)
        undoing = undone(admin_client, job)
        assert (undoing.state, undoing.done, undoing.refused) == ("finished", 3, 2)
        assert statuses(rows) == ["hidden", *["published"] * 4]
        assert "2 of the posts have another status now" in read(admin_client, undoing)

    def test_a_post_that_a_job_hid_twice_is_restored_once(
        self, admin_client: Client, boss: Account, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("messaging.admin.desk.running.BATCH", 1)
        author = PersonFactory()
        rows = MessageFactory.create_batch(2, author=author)
        job = start_on_posts_of(author, kind=BulkJob.HIDE_POSTS, by=boss)
        run_slice(job.pk, seconds=-1)
        restore_message(message_id=rows[0].pk, by=boss)
        assert run_to_end(job.pk).done == 3
        undoing = undone(admin_client, job)
        assert (undoing.done, undoing.refused, statuses(rows)) == (2, 0, ["published"] * 2)


class TestDismissals:
    def test_a_post_without_open_reports_is_refused_and_its_earlier_dismissal_stays(
        self, admin_client: Client, boss: Account
    ) -> None:
        rows = posts("published")
        for row in rows:
            report(row)
        dismiss_reports(message_id=rows[1].pk, by=boss)
        text = undo_list(admin_client, rows, "dismiss_reports", "2 messages: reports dismissed")
        assert "Nothing was changed" in text
        assert [open_reports(row) for row in rows] == [1, 0, 1]

    def test_a_job_counts_it_as_refused(self, admin_client: Client, boss: Account) -> None:
        rows = posts("published")
        for row in rows:
            report(row)
        dismiss_reports(message_id=rows[1].pk, by=boss)
        done = run_to_end(a_job(rows, "dismiss_reports", boss).pk)
        assert (done.done, done.refused) == (2, 1)
        undone(admin_client, done)
        assert [open_reports(row) for row in rows] == [1, 0, 1]

    def test_the_later_dismissal_of_another_moderator_stays(self, admin_client: Client, boss: Account) -> None:
        rows, other = posts("published"), SuperAdminFactory()
        for row in rows:
            report(row)
        job = run_to_end(a_job(rows, "dismiss_reports", boss).pk)
        reopen_reports(message_id=rows[1].pk, by=other)
        dismiss_reports(message_id=rows[1].pk, by=other)
        undoing = undone(admin_client, job)
        assert (undoing.done, undoing.refused) == (2, 1)
        assert [open_reports(row) for row in rows] == [1, 0, 1]

    def test_an_approval_is_not_undone_after_the_dismissal_of_later_reports(
        self, admin_client: Client, boss: Account
    ) -> None:
        rows = posts("pending")
        job = run_to_end(a_job(rows, "approve", boss).pk)
        report(rows[1])
        dismiss_reports(message_id=rows[1].pk, by=SuperAdminFactory())
        undoing = undone(admin_client, job)
        assert (undoing.done, undoing.refused) == (2, 1)
        assert statuses(rows) == ["pending", "published", "pending"]

    def test_a_key_is_refused(self, admin_client: Client) -> None:
        body, json = {"decision": "dismiss_reports", "reason": ""}, {"Accept": "application/json"}
        assert admin_client.post(page(MessageFactory(), "decide"), body, headers=json).status_code == 409


def test_a_job_is_undone_once(admin_client: Client, boss: Account) -> None:
    rows = posts("published")
    for row in rows:
        report(row)
        dismiss_reports(message_id=row.pk, by=boss)
        report(row)
    job = run_to_end(a_job(rows, "dismiss_reports", boss).pk)
    undone(admin_client, job)
    assert page(job, "undo") not in read(admin_client, job)
    assert "Nothing was changed" in decide(admin_client, job, "undo")
    assert [open_reports(row) for row in rows] == [1, 1, 1]


def test_a_job_of_an_earlier_release_is_not_undone(admin_client: Client, boss: Account) -> None:
    """It did not record which rows it changed."""
    rows = posts("published")
    job = run_to_end(a_job(rows, "hide", boss).pk)
    ChangedRow.objects.all().delete()
    assert page(job, "undo") not in read(admin_client, job)
    assert "Nothing was changed" in decide(admin_client, job, "undo")
    assert statuses(rows) == ["hidden"] * 3


def test_a_job_that_nothing_undoes_keeps_its_rows(admin_client: Client, boss: Account) -> None:
    job = run_to_end(a_job(posts("published"), "return", boss).pk)
    assert page(job, "undo") not in read(admin_client, job)
    assert "Nothing was changed" in decide(admin_client, job, "undo")
    assert job.changed_rows.count() == 3


@pytest.mark.django_db(transaction=True)
def test_of_two_undos_at_once_one_gets_the_rows() -> None:
    boss = SuperAdminFactory()
    rows = posts("published")
    job = run_to_end(a_job(rows, "hide", boss).pk)

    def undo(_number: int) -> str:
        try:
            return start_undo(job_id=job.pk, kind="messaging.message:undo-hiding", by=boss).label
        except JobNotUndoable:
            return "refused"

    assert sorted(race(3, undo)) == ["Undo: hide", "refused", "refused"]
    assert run_to_end(BulkJob.objects.latest("created_at").pk).done == 3
    assert statuses(rows) == ["published"] * 3


def test_jobs_are_deleted_with_the_rows_that_they_have_changed(boss: Account) -> None:
    run_to_end(a_job(posts("published"), "hide", boss).pk)
    later = timezone.now() + timedelta(days=STORED_DAYS, seconds=1)
    assert prune(now=later, dry_run=False) == {"jobs of the admin": 1}
    assert not ChangedRow.objects.exists()


def test_a_job_that_runs_is_not_undone(admin_client: Client, boss: Account) -> None:
    job = a_job(posts("published"), "hide", boss)
    run_slice(job.pk, seconds=-1)
    assert "Nothing was changed" in decide(admin_client, job, "undo")
    assert BulkJob.objects.get() == job


def crash(job: BulkJob, monkeypatch: pytest.MonkeyPatch) -> None:
    """Interrupt the process between a change and its count."""

    def stop(*_arguments: Any, **_options: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as broken:
        broken.setattr("messaging.admin.desk.running.count_rows", stop)
        with pytest.raises(KeyboardInterrupt):
            run_slice(job.pk)


def undo_list(
    client: Client,
    rows: list[Any],
    action: str,
    message: str,
    *,
    before_undo: Callable[[], None] = lambda: None,
) -> str:
    """Apply an action to rows of a list, and follow the Undo of its message; returns the page with the message."""
    sent = {"action": action, "_selected_action": [str(row.pk) for row in rows], "confirmed": "1", "reason": "No."}
    text = client.post(page(type(rows[0]), "changelist"), sent, follow=True).content.decode()
    url = unescape(re.findall(rf'{message}. <a href="([^"]+)">Undo…</a>', text)[0])
    before_undo()
    assert client.post(url, {"reason": ""}).status_code == 302
    return text
