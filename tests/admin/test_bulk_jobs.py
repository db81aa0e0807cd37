"""Jobs on many rows: started from a whole list, carried out in slices, stopped, continued, undone."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import timedelta
from html import unescape
from io import StringIO
from typing import Any
from urllib.parse import urlencode

import pytest
from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone
from procrastinate.contrib.django.models import ProcrastinateJob

from agents.models import Agent, AgentRequest
from agents.services import approve_request, reject_request
from kernel.admin.changelists import returning
from kernel.jobs import queue
from kernel.jobs.leases import take
from kernel.jobs.queue import run_due
from messaging.accounts.services import suspend_person
from messaging.management.actor import get_actor
from messaging.models import Account, BulkJob, JobState, Message, PostsChoice, Report
from messaging.moderation import bulk_jobs
from messaging.moderation.bulk_jobs import continue_job, start_job, start_on_posts_of, start_undo, stop_job
from messaging.moderation.exceptions import JobFinished, JobNotUndoable, TooManyRows
from messaging.moderation.lists.jobs import refusals_of
from messaging.moderation.lists.many import ManyRowsAdmin
from messaging.moderation.lists.running import run_slice, run_to_end
from messaging.moderation.reporting import dismiss_reports, reopen_reports
from messaging.moderation.services import approve_message, hide_message, restore_message, return_to_review
from messaging.privacy.erasing import request_erasure
from tests.admin.bystanders import Unchanged
from tests.admin.pages import decide, page, read
from tests.agents.factories import RequestFactory, agent_with_token
from tests.agents.racing import race
from tests.api import Api
from tests.factories import MessageFactory, PersonFactory, SuperAdminFactory
from tests.faults.failing import failing

pytestmark = pytest.mark.django_db
KIND = "agents.agentrequest:reject"


def statuses() -> set[str]:
    return set(AgentRequest.objects.values_list("status", flat=True))


def a_job(requests: list[AgentRequest], boss: Account) -> BulkJob:
    return start_job(kind=KIND, label="Reject", ids=[row.pk for row in requests], by=boss, reason="Spam.")


def select_all(client: Client, query: str, **sent: Any) -> Any:
    first = AgentRequest.objects.filter(status="pending").first()
    body = {"action": "reject", "select_across": "1", "_selected_action": [str(first and first.pk)]} | sent
    return client.post(f"{page(AgentRequest, 'changelist')}?{query}", body)


def output_of(command: str, *arguments: str) -> str:
    out = StringIO()
    call_command(command, *arguments, stdout=out, stderr=StringIO())
    return out.getvalue()


def confirm_all(client: Client, query: str, **sent: Any) -> Any:
    """Send the form of the confirmation page."""
    text = select_all(client, query).content.decode()
    hidden = dict(re.findall(r'<input type="hidden" name="(as_of|counted)" value="([^"]+)">', text))
    assert len(hidden) == 2
    return select_all(client, query, confirmed="1", **(hidden | sent))


def test_a_whole_list_is_a_job_on_its_filtered_rows(
    admin_client: Client, boss: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("messaging.moderation.lists.many.BULK_MAX", 3)
    requests = [RequestFactory(agent_handle=f"spam_{n}x") for n in range(5)]
    other = RequestFactory(agent_handle="decent_one")
    query = "q=spam_"
    confirmation = select_all(admin_client, query).content.decode()
    assert "Reject: 5 chosen" in confirmation
    assert 'name="select_across" value="1"' in confirmation
    assert f'action="{page(AgentRequest, "changelist")}?q=spam_"' in confirmation
    assert "errorlist" in confirm_all(admin_client, query, reason="").content.decode()
    assert not BulkJob.objects.exists()
    response = confirm_all(admin_client, query, reason="Spam.")
    job = BulkJob.objects.get()
    assert response["Location"] == f"{page(job)}?_return=%2Fadmin%2Fagents%2Fagentrequest%2F%3Fq%3Dspam_"
    assert (
        f'href="{page(AgentRequest, "changelist")}?q=spam_"' in admin_client.get(response["Location"]).content.decode()
    )
    assert (job.kind, job.total, job.by_id, job.state) == (KIND, 5, boss.pk, "running")
    assert "0 of 5 done" in read(admin_client, job)
    run_to_end(job.pk)
    answer = admin_client.get(page(job, "progress")).json()
    assert (answer["state"], answer["done"], answer["text"]) == ("finished", 5, "5 of 5 done")
    assert {AgentRequest.objects.get(pk=row.pk).reason for row in requests} == {"Spam."}
    other.refresh_from_db()
    assert other.status == "pending"


def test_a_row_that_arrives_after_the_confirmation_page_is_not_decided(
    admin_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("messaging.moderation.lists.many.BULK_MAX", 1)
    query, when = "status__exact=pending", timezone.now()
    seen = {RequestFactory(agent_handle=f"seen_{n}x").pk for n in range(3)}
    sent = {"confirmed": "1", "reason": "Spam.", "as_of": timezone.now().isoformat(), "counted": "3"}
    late = RequestFactory(agent_handle="late_one")
    assert select_all(admin_client, query, **sent).status_code == 302
    assert set(BulkJob.objects.get().ids) == seen
    # One that was created before, and is pending again.
    AgentRequest.objects.filter(pk=late.pk).update(created_at=when)
    text = select_all(admin_client, query, **sent).content.decode()
    assert "The list has more rows than when you confirmed." in text
    assert 'name="counted" value="4"' in text
    for old in ({"as_of": "", "counted": ""}, {"as_of": "2026-13-40T", "counted": "²"}):
        assert select_all(admin_client, query, **(sent | old)).status_code == 200
    assert BulkJob.objects.count() == 1


def test_more_rows_than_a_job_takes_are_refused_before_they_are_confirmed(
    admin_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("messaging.moderation.lists.many.BULK_MAX", 1)
    monkeypatch.setattr("messaging.moderation.lists.many.ROWS_MAX", 2)
    RequestFactory.create_batch(3)
    response = select_all(admin_client, "")
    assert response.status_code == 302
    assert "Filter the list first" in admin_client.get(response["Location"]).content.decode()


def test_lists_without_keys_start_jobs_too(admin_client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("messaging.moderation.lists.many.BULK_MAX", 1)
    monkeypatch.setattr("kernel.admin.changelists.COUNTED_MAX", 2)
    monkeypatch.setattr("agents.admin.AgentAdmin.list_per_page", 2)
    agents = [agent_with_token().agent for _ in range(3)]
    shown = read(admin_client, Agent, "changelist")
    assert "Select all 2+ agents" in shown
    assert "All 2+ selected" in shown
    sent = {"action": "freeze", "_selected_action": [str(agents[0].pk)], "select_across": "1"}
    assert "Freeze: 3 chosen" in decided(admin_client, sent)
    decided(admin_client, sent | {"confirmed": "1", "counted": "3", "reason": "Odd."})
    job = run_to_end(BulkJob.objects.get().pk)
    assert (job.done, job.refused) == (3, 0)
    assert not Agent.objects.filter(frozen_at=None).exists()


def test_an_action_on_a_few_rows_is_undone_from_its_message(admin_client: Client) -> None:
    requests = RequestFactory.create_batch(3)
    approve_request(request_id=requests[2].pk, by=SuperAdminFactory())
    url = f"{page(AgentRequest, 'changelist')}?o=2"
    sent = {
        "action": "reject",
        "_selected_action": [str(one.pk) for one in requests],
        "confirmed": "1",
        "reason": "No.",
    }
    text = admin_client.post(url, sent, follow=True).content.decode()
    undo = unescape(re.findall(r'2 agent requests: rejected. <a href="([^"]+)">Undo…</a>', text)[0])
    assert "Nothing was changed" in text
    assert admin_client.post(undo, {"reason": ""})["Location"] == url
    assert [AgentRequest.objects.get(pk=one.pk).status for one in requests] == ["pending", "pending", "approved"]
    assert BulkJob.objects.latest("created_at").done == 2
    post = MessageFactory()
    sent = {"action": "hide", "_selected_action": [str(post.pk)], "confirmed": "1", "reason": "No."}
    text = admin_client.post(page(Message, "changelist"), sent, follow=True).content.decode()
    undo = unescape(re.findall(r'hidden. <a href="([^"]+)">Undo…</a>', text)[0])
    post.refresh_from_db()
    decided = urlencode({f"decided-{post.pk}": post.decided_at.isoformat()})
    assert undo == returning(f"{page(post, 'undo-hiding')}?{decided}", to=page(Message, "changelist"))


def decided(client: Client, sent: dict[str, Any]) -> str:
    return str(client.post(page(Agent, "changelist"), sent, follow=True).content.decode())


def test_the_lists_with_actions_take_many_rows() -> None:
    bounded = {"Move", "BulkJob", "QueuedJob"}
    found = {
        model.__name__
        for model, rows in admin.site._registry.items()
        if any(action.bulk for action in rows.row_actions) and not isinstance(rows, ManyRowsAdmin)
    }
    assert found <= bounded


def test_rows_that_are_decided_meanwhile_are_refused_and_shown_without_storing_their_names(
    admin_client: Client, boss: Account, django_assert_num_queries: Any
) -> None:
    requests = RequestFactory.create_batch(3)
    job = a_job(requests, boss)
    for row in requests[:2]:
        approve_request(request_id=row.pk, by=boss)
    done = run_to_end(job.pk)
    assert (done.state, done.done, done.refused) == ("finished", 1, 2)
    assert "request not pending (status: approved)" in done.errors[0]
    names = [name for row in requests for name in (row.agent_handle, row.requester.handle)]
    assert not [name for name in names if name in str(done.errors)]
    AgentRequest.objects.filter(pk=requests[1].pk).delete()
    with django_assert_num_queries(1):
        shown = refusals_of(done)
    assert shown[0].startswith(f"{requests[0]}: ")
    assert shown[1].startswith("a deleted row: ")
    assert str(requests[0]) in unescape(read(admin_client, job))


def test_a_job_is_stopped_between_rows_continued_and_undone(
    admin_client: Client, boss: Account, unchanged: Unchanged
) -> None:
    bystander = RequestFactory()
    unchanged(a_job([bystander], boss))
    job = a_job(RequestFactory.create_batch(4), boss)
    assert run_slice(job.pk, seconds=-1).done == 1

    def offered() -> list[bool]:
        shown = read(admin_client, job)
        return [page(job, name) in shown for name in ("stop", "continue", "undo")]

    assert offered() == [True, False, False]
    decide(admin_client, job, "stop")
    assert offered() == [False, True, True]
    assert run_slice(job.pk).done == 1
    of_job = AgentRequest.objects.exclude(pk=bystander.pk)
    assert sorted(of_job.values_list("status", flat=True)) == ["pending"] * 3 + ["rejected"]
    decide(admin_client, job, "continue")
    assert run_to_end(job.pk).done == 4
    assert set(of_job.values_list("status", flat=True)) == {"rejected"}
    text = decide(admin_client, job, "undo")
    assert "is being undone by another job" in text
    undoing = BulkJob.objects.latest("created_at")
    assert (undoing.kind, undoing.total) == ("agents.agentrequest:undo", 4)
    assert run_to_end(undoing.pk).done == 4
    assert statuses() == {"pending"}
    words = LogEntry.objects.filter(object_id=str(job.pk)).order_by("pk").values_list("change_message", flat=True)
    assert list(words) == ["Started: Spam.", "Stopped (running → stopped).", "Continued (stopped → running)."]


def test_a_finished_job_is_neither_stopped_nor_continued_and_an_unknown_kind_ends(boss: Account) -> None:
    unknown = start_job(kind="agents.agentrequest:explode", label="?", ids=[RequestFactory().pk], by=boss)
    ended = run_to_end(unknown.pk)
    assert (ended.state, ended.done) == ("finished", 0)
    assert statuses() == {"pending"}
    for change in (stop_job, continue_job):
        with pytest.raises(JobFinished):
            change(job_id=ended.pk, by=boss)


def test_a_job_has_a_limited_number_of_rows(boss: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bulk_jobs, "ROWS_MAX", 1)
    with pytest.raises(TooManyRows):
        a_job(RequestFactory.create_batch(2), boss)


def test_a_crash_in_the_middle_repeats_and_skips_no_row(boss: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    requests = RequestFactory.create_batch(3)
    job = a_job(requests, boss)
    run_slice(job.pk, seconds=-1)

    def crash(*_arguments: Any, **_options: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as broken:
        broken.setattr("messaging.moderation.lists.running.count_rows", crash)
        with pytest.raises(KeyboardInterrupt):
            run_slice(job.pk)
    assert sum(row.status == "rejected" for row in AgentRequest.objects.all()) == 1
    assert run_to_end(job.pk).done == 3
    assert LogEntry.objects.filter(change_message="Rejected (pending → rejected): Spam.").count() == 3


def test_another_process_that_has_the_lease_is_left_alone(boss: Account) -> None:
    job = a_job(RequestFactory.create_batch(1), boss)
    take(BulkJob.objects.unleased())
    assert run_slice(job.pk).done == 0
    assert statuses() == {"pending"}


@pytest.mark.django_db(transaction=True)
def test_several_pages_of_a_job_decide_each_row_once() -> None:
    boss = SuperAdminFactory()
    job = a_job(RequestFactory.create_batch(6), boss)

    def work(_number: int) -> None:
        for _ in range(6):
            run_slice(job.pk, seconds=-1)

    race(4, work)
    done = run_to_end(job.pk)
    assert (done.state, done.done, done.refused) == ("finished", 6, 0)
    assert LogEntry.objects.filter(change_message="Rejected (pending → rejected): Spam.").count() == 6


class TestJobsOfWhoCannotAct:
    @pytest.fixture(params=["suspended", "leaving", "erased"])
    def job(self, request: pytest.FixtureRequest, boss: Account) -> BulkJob:
        """A job that has changed one row of three when its super admin is no active one any more."""
        owner = SuperAdminFactory()
        job = a_job(RequestFactory.create_batch(3), owner)
        run_slice(job.pk, seconds=-1)
        if request.param == "suspended":
            suspend_person(person=owner, by=boss)
        elif request.param == "leaving":
            request_erasure(person=owner, posts=PostsChoice.ANONYMOUS, by=owner)
        else:
            BulkJob.objects.filter(pk=job.pk).update(by=None)
        return job

    def test_the_job_stops_and_the_history_says_why(self, job: BulkJob, admin_client: Client) -> None:
        assert run_due("desk_jobs") == 1
        job.refresh_from_db()
        assert (job.state, job.done, job.refused) == ("stopped", 1, 0)
        assert "Stopped (running → stopped): Who started it cannot decide any more." in read(admin_client, job)

    def test_who_continues_the_job_decides_the_rest(self, job: BulkJob, boss: Account, admin_client: Client) -> None:
        run_to_end(job.pk)
        decide(admin_client, job, "continue")
        ended = run_to_end(job.pk)
        assert (ended.state, ended.done, ended.by) == ("finished", 3, boss)
        assert AgentRequest.objects.filter(decided_by=boss).count() == 2

    def test_a_job_of_a_command_goes_on(self) -> None:
        author = MessageFactory().author
        job = start_on_posts_of(author, kind=BulkJob.HIDE_POSTS, by=get_actor(None), reason="Spam.")
        assert run_to_end(job.pk).done == 1


class TestPostsOfAnAuthor:
    def test_hiding_is_stopped_and_undone(
        self, admin_client: Client, boss: Account, monkeypatch: pytest.MonkeyPatch, unchanged: Unchanged
    ) -> None:
        monkeypatch.setattr("messaging.moderation.lists.running.BATCH", 2)
        author = PersonFactory()
        MessageFactory.create_batch(5, author=author)
        unchanged(MessageFactory(), MessageFactory(status="hidden"))
        job = start_on_posts_of(author, kind=BulkJob.HIDE_POSTS, by=boss, reason="Spam.")
        assert run_slice(job.pk, seconds=-1).done == 2
        stop_job(job_id=job.pk, by=boss)
        run_slice(job.pk)
        assert Message.objects.filter(author=author, status="hidden").count() == 2
        assert "2 of 5 done" in read(admin_client, job)
        decide(admin_client, job, "undo")
        restoring = BulkJob.objects.latest("created_at")
        assert run_to_end(restoring.pk).done == 2
        assert set(author.messages.values_list("status", flat=True)) == {"published"}
        assert "All posts hidden (5): Spam." in read(admin_client, author)

    def test_the_page_of_a_long_job_opens_after_the_first_slice(
        self, admin_client: Client, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("messaging.moderation.lists.running.BATCH", 1)
        monkeypatch.setattr("messaging.moderation.lists.running.run_slice", lambda pk: run_slice(pk, seconds=-1))
        author = PersonFactory()
        MessageFactory.create_batch(2, author=author)
        listed = f"{page(Message, 'changelist')}?status__exact=published"
        url = returning(page(author, "hide-posts"), to=listed)
        response = admin_client.post(url, {"reason": "Spam."})
        assert response["Location"] == returning(page(BulkJob.objects.get()), to=listed)
        assert f'href="{listed}"' in admin_client.get(response["Location"]).content.decode()

    def test_the_command_hides_and_restores(self, unchanged: Unchanged) -> None:
        author = PersonFactory()
        MessageFactory.create_batch(3, author=author)
        unchanged(MessageFactory(), MessageFactory(status="hidden"))
        of_author = Message.objects.filter(author=author)
        said = output_of("hide_posts", author.handle, "--reason", "Spam.", "--json")
        assert json.loads(said)["changed"] == 3
        assert set(of_author.values_list("status", flat=True)) == {"hidden"}
        assert LogEntry.objects.filter(change_message="All posts hidden (3): Spam.").exists()
        assert "finished, 3 posts changed" in output_of("hide_posts", author.handle, "--undo")
        assert set(of_author.values_list("status", flat=True)) == {"published"}

    def test_a_reason_may_have_500_characters(self) -> None:
        output_of("hide_posts", PersonFactory().handle, "--reason", "r" * 500)
        assert BulkJob.objects.get().reason == "r" * 500

    def test_the_command_refuses_bad_input(self, boss: Account) -> None:
        author = MessageFactory().author
        for arguments in (["nobody", "--reason", "x"], [author.handle], [author.handle, "--reason", "r" * 501]):
            with pytest.raises(CommandError):
                call_command("hide_posts", *arguments)
        # It does not decide in the name of who cannot, either.
        for cannot in ({"is_active": False}, {"is_active": True, "erasure_due_at": timezone.now()}):
            Account.objects.filter(pk=boss.pk).update(**cannot)
            with pytest.raises(CommandError, match="suspended, or waits"):
                call_command("hide_posts", author.handle, "--reason", "Spam.", "--by", boss.handle)
        assert not BulkJob.objects.exists()


def test_jobs_that_hide_and_restore_all_posts_of_an_account_do_not_run_together(boss: Account) -> None:
    author = MessageFactory().author
    hiding = start_on_posts_of(author, kind=BulkJob.HIDE_POSTS, by=boss)
    restoring = start_on_posts_of(author, kind=BulkJob.RESTORE_POSTS, by=boss)

    def states() -> list[str]:
        return [BulkJob.objects.get(pk=job.pk).state for job in (hiding, restoring)]

    assert states() == [JobState.STOPPED, JobState.RUNNING]
    continue_job(job_id=hiding.pk, by=boss)
    assert states() == [JobState.RUNNING, JobState.STOPPED]
    of_another = start_on_posts_of(PersonFactory(), kind=BulkJob.RESTORE_POSTS, by=boss)
    start_on_posts_of(author, kind=BulkJob.HIDE_POSTS, by=boss)
    assert (states()[0], of_another.state) == (JobState.RUNNING, JobState.RUNNING)


@pytest.mark.django_db(transaction=True)
def test_of_opposite_jobs_that_start_at_the_same_time_one_runs(boss: Account) -> None:
    author, kinds = MessageFactory().author, [BulkJob.HIDE_POSTS, BulkJob.RESTORE_POSTS]
    race(2, lambda number: start_on_posts_of(author, kind=kinds[number], by=boss))
    assert sorted(BulkJob.objects.values_list("state", flat=True)) == [JobState.RUNNING, JobState.STOPPED]


@pytest.mark.django_db(transaction=True)
def test_a_row_whose_decision_the_database_aborts_is_decided_again(boss: Account) -> None:
    job = a_job(RequestFactory.create_batch(1), boss)
    with failing("40P01", times=1, change="UPDATE", table="agents_agentrequest"):
        assert run_slice(job.pk).done == 1
    assert statuses() == {"rejected"}


def test_the_command_finishes_what_no_page_carries_out(boss: Account) -> None:
    a_job(RequestFactory.create_batch(2), boss)
    assert output_of("run_job", "desk_jobs") == "desk_jobs: 1 done\n"
    assert statuses() == {"rejected"}


def test_a_job_that_cannot_go_on_prevents_no_later_one(boss: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    broken, later = a_job(RequestFactory.create_batch(1), boss), a_job(RequestFactory.create_batch(1), boss)

    def run(job_id: Any, **options: Any) -> BulkJob:
        if job_id == broken.pk:
            raise ArithmeticError
        return run_to_end(job_id, **options)

    monkeypatch.setattr("messaging.moderation.lists.running.run_to_end", run)
    call_command("run_job", "desk_jobs")
    later.refresh_from_db()
    assert later.state == JobState.FINISHED


def test_jobs_that_do_not_run_are_deleted_after_ninety_days_with_the_rows_that_they_have_changed(
    boss: Account, unchanged: Unchanged
) -> None:
    running, ended = a_job(RequestFactory.create_batch(2), boss), a_job([RequestFactory()], boss)
    run_slice(running.pk, seconds=-1)
    run_to_end(ended.pk)
    unchanged(BulkJob.objects.get(pk=running.pk), *running.changed_rows.all())
    later = timezone.now() + timedelta(days=bulk_jobs.STORED_DAYS, seconds=1)
    assert bulk_jobs.prune(now=timezone.now(), dry_run=False) == {"jobs of the admin": 0}
    assert bulk_jobs.prune(now=later, dry_run=True) == {"jobs of the admin": 1}
    assert bulk_jobs.prune(now=later, dry_run=False) == {"jobs of the admin": 1}
    assert BulkJob.objects.get() == running
    assert not ended.changed_rows.exists()


def asked() -> list[str]:
    return list(ProcrastinateJob.objects.filter(task_name="desk_jobs", status="todo").values_list("lock", flat=True))


@pytest.mark.usefixtures("empty_queue")
def test_a_worker_is_asked_for_each_job_that_an_admin_starts(
    admin_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("messaging.moderation.lists.many.BULK_MAX", 1)
    for handle in ("spam_1x", "spam_2x"):
        RequestFactory(agent_handle=handle)
    confirm_all(admin_client, "q=spam_", reason="Spam.")
    job = BulkJob.objects.get()
    assert asked() == [f"desk_jobs {job.pk}"]
    decide(admin_client, job, "stop")
    decide(admin_client, job, "continue")
    # It waits already.
    assert asked() == [f"desk_jobs {job.pk}"]


def test_the_page_of_a_job_shows_the_progress_and_leaves_the_work_to_a_worker(
    admin_client: Client, boss: Account
) -> None:
    job = a_job(RequestFactory.create_batch(2), boss)
    run_slice(job.pk, seconds=-1)
    shown = admin_client.get(page(job, "progress")).json()
    assert (shown["state"], shown["done"], shown["total"], shown["text"]) == ("running", 1, 2, "1 of 2 done")
    assert sorted(statuses()) == ["pending", "rejected"]


@pytest.mark.django_db(transaction=True)
def test_a_worker_goes_on_with_the_job_of_a_dead_process() -> None:
    job = a_job(RequestFactory.create_batch(1), SuperAdminFactory())
    assert take(BulkJob.objects.all()) is not None
    assert run_due("desk_jobs") == 0
    queue.run("desk_jobs", job.pk)
    assert statuses() == {"rejected"}


def a_job_on(rows: list[Any], action: str, boss: Account) -> BulkJob:
    kind = f"{rows[0]._meta.label_lower}:{action}"
    return start_job(kind=kind, label=action, ids=[row.pk for row in rows], by=boss, reason="Spam.")


def on_posts(author: Account, kind: str, boss: Account) -> BulkJob:
    return run_to_end(start_on_posts_of(author, kind=kind, by=boss).pk)


def undone(client: Client, job: BulkJob) -> BulkJob:
    """The finished job that undoes this one."""
    assert "is being undone by another job" in decide(client, job, "undo")
    return run_to_end(BulkJob.objects.latest("created_at").pk)


def is_not_undone(client: Client, job: BulkJob) -> None:
    count = BulkJob.objects.count()
    assert page(job, "undo") not in read(client, job)
    assert "Nothing was changed" in decide(client, job, "undo")
    assert BulkJob.objects.count() == count


def statuses_of(rows: list[Any]) -> list[str]:
    return [type(row).objects.get(pk=row.pk).status for row in rows]


def report(message: Message) -> None:
    answer = Api.as_person(PersonFactory()).post(f"/api/messages/{message.pk}/report", {"reason": "abuse"})
    assert answer.status == 200


def open_reports(message: Message) -> int:
    return Report.objects.filter(message=message, closed_at=None).count()


def posts(status: str) -> list[Any]:
    return list(MessageFactory.create_batch(3, status=status))


@pytest.mark.parametrize(
    ("action", "before", "by_other", "back"),
    [
        ("hide", "published", hide_message, restore_message),
        ("restore", "hidden", restore_message, hide_message),
        ("approve", "pending", approve_message, return_to_review),
    ],
)
def test_posts_on_which_another_moderator_has_decided_before_the_job_or_since_stay(
    admin_client: Client, boss: Account, action: str, before: str, by_other: Any, back: Any
) -> None:
    """That a post has the status of the job again does not matter."""
    rows, other = MessageFactory.create_batch(4, status=before), SuperAdminFactory()
    job = a_job_on(rows, action, boss)
    after = by_other(message_id=rows[1].pk, by=boss).status
    done = run_to_end(job.pk)
    assert (done.done, done.refused, statuses_of(rows)) == (3, 1, [after] * 4)
    for decide_again in (back, by_other):
        decide_again(message_id=rows[2].pk, by=other)
    undoing = undone(admin_client, done)
    assert (undoing.total, undoing.done, undoing.refused) == (3, 2, 1)
    assert undoing.errors == [f"{rows[2].pk}: message state changed (status: {after})"]
    assert statuses_of(rows) == [before, after, after, before]


def test_an_agent_request_that_another_admin_rejected_stays_rejected(
    admin_client: Client, boss: Account, unchanged: Unchanged
) -> None:
    rows: list[AgentRequest] = RequestFactory.create_batch(3)
    unchanged(reject_request(request_id=RequestFactory().pk, by=boss, reason="Spam."))
    job = a_job_on(rows, "reject", boss)
    reject_request(request_id=rows[0].pk, by=boss, reason="Mine.")
    undone(admin_client, run_to_end(job.pk))
    assert statuses_of(rows) == ["rejected", "pending", "pending"]


class TestLaterDecisions:
    """Another moderator decides after the job: that stays, although the status is that of the job again."""

    def test_a_list_leaves_what_it_was_refused_and_what_another_moderator_has_decided_since(
        self, admin_client: Client, boss: Account, unchanged: Unchanged
    ) -> None:
        (*rows, refused), other = posts("published"), SuperAdminFactory()
        unchanged(hide_message(message_id=refused.pk, by=boss), *posts("hidden"))

        def hide_again() -> None:
            restore_message(message_id=rows[1].pk, by=other)
            hide_message(message_id=rows[1].pk, by=other, reason="Mine.")

        undo_list(admin_client, [*rows, refused], "hide", "2 messages: hidden", before_undo=hide_again)
        assert statuses_of(rows) == ["published", "hidden"]

    def test_an_edit_after_the_job_is_no_decision(self, admin_client: Client, boss: Account) -> None:
        rows = posts("pending")
        job = run_to_end(a_job_on(rows, "approve", boss).pk)
        edited = Api.as_person(rows[1].author).put(f"/api/messages/{rows[1].pk}", {"content": "Second"})
        assert edited.status == 200
        assert undone(admin_client, job).done == 3
        assert statuses_of(rows) == ["pending"] * 3

    @pytest.mark.parametrize("kind", [BulkJob.HIDE_POSTS, BulkJob.RESTORE_POSTS])
    def test_a_later_job_on_all_posts_of_the_author_is_a_later_decision(
        self, admin_client: Client, boss: Account, kind: str
    ) -> None:
        author = PersonFactory()
        rows = MessageFactory.create_batch(2, author=author)
        if kind == BulkJob.RESTORE_POSTS:
            on_posts(author, BulkJob.HIDE_POSTS, boss)
        job = on_posts(author, kind, boss)
        after = statuses_of(rows)
        for again in sorted({BulkJob.HIDE_POSTS, BulkJob.RESTORE_POSTS}, key=lambda one: one == kind):
            on_posts(author, again, boss)
        undoing = undone(admin_client, job)
        assert (undoing.done, undoing.refused, statuses_of(rows)) == (0, 2, after)

    def test_a_job_of_an_undo_on_a_whole_list_is_refused_after_a_later_decision(
        self, admin_client: Client, boss: Account, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("messaging.moderation.lists.many.BULK_MAX", 1)
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
        assert statuses_of(rows) == ["hidden"] + ["published"] * (len(rows) - 1)


class TestInterruptions:
    def test_a_job_that_was_interrupted_and_continued_is_undone_as_a_whole(
        self, admin_client: Client, boss: Account, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        rows = posts("published")
        job = a_job_on(rows, "hide", boss)
        hide_message(message_id=rows[0].pk, by=boss)
        run_slice(job.pk, seconds=-1)
        crash(job, monkeypatch)
        stop_job(job_id=job.pk, by=boss)
        decide(admin_client, job, "continue")
        assert run_to_end(job.pk).done == 2
        undone(admin_client, job)
        assert statuses_of(rows) == ["hidden", "published", "published"]

    def test_what_a_stopped_job_changes_after_it_was_undone_is_undone_by_itself(
        self, admin_client: Client, boss: Account
    ) -> None:
        rows = posts("published")
        job = a_job_on(rows, "hide", boss)
        run_slice(job.pk, seconds=-1)
        stop_job(job_id=job.pk, by=boss)
        undone(admin_client, job)
        hide_message(message_id=rows[0].pk, by=boss)
        decide(admin_client, job, "continue")
        run_to_end(job.pk)
        assert undone(admin_client, job).total == 2
        assert statuses_of(rows) == ["hidden", "published", "published"]

    def test_a_batch_of_posts_is_changed_counted_and_recorded_or_none_of_it(
        self, admin_client: Client, boss: Account, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("messaging.moderation.lists.running.BATCH", 2)
        author = PersonFactory()
        rows = MessageFactory.create_batch(5, author=author)
        job = start_on_posts_of(author, kind=BulkJob.HIDE_POSTS, by=boss, reason="Spam.")
        run_slice(job.pk, seconds=-1)
        crash(job, monkeypatch)
        assert sum(status == "hidden" for status in statuses_of(rows)) == 2
        done = run_to_end(job.pk)
        assert (done.done, statuses_of(rows)) == (5, ["hidden"] * 5)
        monkeypatch.setattr("messaging.moderation.lists.running.run_slice", lambda pk: run_slice(pk, seconds=-1))
        decide(admin_client, job, "undo")
        undoing = BulkJob.objects.latest("created_at")
        crash(undoing, monkeypatch)
        assert statuses_of(rows).count("published") == 2
        stop_job(job_id=undoing.pk, by=boss)
        decide(admin_client, undoing, "continue")
        undoing = run_to_end(undoing.pk)
        assert (undoing.done, undoing.refused) == (5, 0)
        assert statuses_of(rows) == ["published"] * 5


class TestUndoingOnPostsOfAnAuthor:
    def test_undoing_a_restoring_leaves_posts_that_it_did_not_restore(
        self, admin_client: Client, boss: Account, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("messaging.moderation.lists.running.BATCH", 2)
        author = PersonFactory()
        rows = [*MessageFactory.create_batch(2, author=author), MessageFactory(author=author, status="pending")]
        on_posts(author, BulkJob.HIDE_POSTS, boss)
        never_hidden = MessageFactory(author=author)
        restoring = on_posts(author, BulkJob.RESTORE_POSTS, boss)
        later = [MessageFactory(author=author, status=status) for status in ("published", "pending")]
        assert undone(admin_client, restoring).done == 3
        assert statuses_of(rows) == ["hidden"] * 3
        assert statuses_of([never_hidden, *later]) == ["published", "published", "pending"]
        assert "Restoring of posts undone (3)" in read(admin_client, author)

    def test_undoing_a_second_hiding_leaves_the_first(self, admin_client: Client, boss: Account) -> None:
        author = PersonFactory()
        first = MessageFactory(author=author)
        on_posts(author, BulkJob.HIDE_POSTS, boss)
        second = MessageFactory(author=author)
        job = on_posts(author, BulkJob.HIDE_POSTS, boss)
        undoing = undone(admin_client, job)
        assert (undoing.kind, undoing.total, undoing.done) == (BulkJob.RESTORE_POSTS, 1, 1)
        assert statuses_of([first, second]) == ["hidden", "published"]
        # Which can be undone in turn.
        assert undone(admin_client, undoing).done == 1
        assert statuses_of([first, second]) == ["hidden", "hidden"]

    def test_a_post_on_which_a_moderator_has_decided_since_is_refused_and_one_hidden_twice_restored_once(
        self, admin_client: Client, boss: Account, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("messaging.moderation.lists.running.BATCH", 2)
        author = PersonFactory()
        rows = MessageFactory.create_batch(6, author=author)
        job = start_on_posts_of(author, kind=BulkJob.HIDE_POSTS, by=boss)
        run_slice(job.pk, seconds=-1)
        restore_message(message_id=rows[0].pk, by=boss)
        assert run_to_end(job.pk).done == 7
        for row in rows[2:4]:
            restore_message(message_id=row.pk, by=boss)
        hide_message(message_id=rows[2].pk, by=boss)
        undoing = undone(admin_client, job)
        assert (undoing.state, undoing.done, undoing.refused) == ("finished", 4, 2)
        assert statuses_of(rows) == [*["published"] * 2, "hidden", *["published"] * 3]
        assert "2 of the posts have another status now" in read(admin_client, undoing)


class TestDismissals:
    @pytest.mark.parametrize("is_job", [False, True])
    def test_a_post_without_open_reports_is_refused_and_its_earlier_dismissal_stays(
        self, admin_client: Client, boss: Account, is_job: bool
    ) -> None:
        rows = posts("published")
        for row in rows:
            report(row)
        dismiss_reports(message_id=rows[1].pk, by=boss)
        if is_job:
            done = run_to_end(a_job_on(rows, "dismiss_reports", boss).pk)
            assert (done.done, done.refused) == (2, 1)
            undone(admin_client, done)
        else:
            text = undo_list(admin_client, rows, "dismiss_reports", "2 messages: reports dismissed")
            assert "Nothing was changed" in text
        assert [open_reports(row) for row in rows] == [1, 0, 1]

    def test_the_later_dismissal_of_another_moderator_stays(self, admin_client: Client, boss: Account) -> None:
        rows, other = posts("published"), SuperAdminFactory()
        for row in rows:
            report(row)
        job = run_to_end(a_job_on(rows, "dismiss_reports", boss).pk)
        reopen_reports(message_id=rows[1].pk, by=other)
        dismiss_reports(message_id=rows[1].pk, by=other)
        undoing = undone(admin_client, job)
        assert (undoing.done, undoing.refused) == (2, 1)
        assert [open_reports(row) for row in rows] == [1, 0, 1]

    def test_an_approval_is_not_undone_after_the_dismissal_of_later_reports(
        self, admin_client: Client, boss: Account
    ) -> None:
        rows = posts("pending")
        job = run_to_end(a_job_on(rows, "approve", boss).pk)
        report(rows[1])
        dismiss_reports(message_id=rows[1].pk, by=SuperAdminFactory())
        undoing = undone(admin_client, job)
        assert (undoing.done, undoing.refused) == (2, 1)
        assert statuses_of(rows) == ["pending", "published", "pending"]

    def test_a_key_is_refused(self, admin_client: Client) -> None:
        body, json = {"decision": "dismiss_reports", "reason": ""}, {"Accept": "application/json"}
        assert admin_client.post(page(MessageFactory(), "decide"), body, headers=json).status_code == 409


def test_a_job_is_undone_once(admin_client: Client, boss: Account) -> None:
    rows = posts("published")
    for row in rows:
        report(row)
        dismiss_reports(message_id=row.pk, by=boss)
        report(row)
    job = run_to_end(a_job_on(rows, "dismiss_reports", boss).pk)
    undone(admin_client, job)
    is_not_undone(admin_client, job)
    assert [open_reports(row) for row in rows] == [1, 1, 1]


def test_jobs_of_an_earlier_release_running_ones_and_those_that_nothing_undoes_are_not_undone(
    admin_client: Client, boss: Account
) -> None:
    """An earlier release did not record which rows a job changed."""
    rows = posts("published")
    returned = run_to_end(a_job_on(posts("published"), "return", boss).pk)
    job = run_to_end(a_job_on(rows, "hide", boss).pk)
    job.changed_rows.all().delete()
    running = a_job_on(posts("published"), "hide", boss)
    run_slice(running.pk, seconds=-1)
    for each in (job, returned, running):
        is_not_undone(admin_client, each)
    assert statuses_of(rows) == ["hidden"] * 3
    assert returned.changed_rows.count() == 3


@pytest.mark.django_db(transaction=True)
def test_of_two_undos_at_once_one_gets_the_rows() -> None:
    boss = SuperAdminFactory()
    rows = posts("published")
    job = run_to_end(a_job_on(rows, "hide", boss).pk)

    def undo(_number: int) -> str:
        try:
            return start_undo(job_id=job.pk, kind="messaging.message:undo-hiding", by=boss).label
        except JobNotUndoable:
            return "refused"

    assert sorted(race(3, undo)) == ["Undo: hide", "refused", "refused"]
    assert run_to_end(BulkJob.objects.latest("created_at").pk).done == 3
    assert statuses_of(rows) == ["published"] * 3


def crash(job: BulkJob, monkeypatch: pytest.MonkeyPatch) -> None:
    """Interrupt the process between a change and its count."""

    def stop(*_arguments: Any, **_options: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as broken:
        broken.setattr("messaging.moderation.lists.running.count_rows", stop)
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
