"""A command and the pages do not run steps of one import at the same time."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.management import CommandError
from django.test import Client
from django.utils import timezone

from kernel.jobs.leases import LeaseLost, release, take
from kernel.jobs.queue import run_due
from messaging.models import Account, Community, Message
from moving import jobs, services
from moving.imports.progress import Step
from moving.imports.undoing import begin_undo
from moving.jobs import Progress
from moving.models import Move, MoveStatus
from tests.factories import PersonFactory
from tests.moving.imports.importing import MAP, Imported, import_posts, site
from tests.moving.imports.test_pages import FEW, client_of, upload

pytestmark = pytest.mark.django_db
BUSY = "Wait until the current step of this import has ended."


@pytest.fixture(autouse=True)
def long_lease(monkeypatch: pytest.MonkeyPatch) -> None:
    """No lease ends during a test."""
    monkeypatch.setattr(Move, "LEASE", timedelta(hours=1))


@pytest.fixture
def person() -> Account:
    return PersonFactory()


@pytest.fixture
def community(person: Account) -> Community:
    return site(person, "Harbour")


@pytest.fixture
def client(person: Account) -> Client:
    return client_of(person)


@pytest.fixture
def run_with(
    community: Community, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[Callable[[], object]], Imported]:
    """Runs the command, and a function in its first step."""

    def run(then: Callable[[], object]) -> Imported:
        actions = [then]

        def tell(_step: Step) -> None:
            if actions:
                actions.pop()()

        monkeypatch.setattr("moving.management.commands.import_posts.ProgressLines", lambda _write: tell)
        return import_few(community, tmp_path)

    return run


Run = Callable[[Callable[[], object]], Imported]


def import_few(community: Community, folder: Path) -> Imported:
    """By the command."""
    (file := folder / "old.xml").write_bytes(FEW)
    return import_posts("disqus", file, community, folder / "report.csv", map=MAP)


def test_a_file_that_a_command_imports_cannot_be_uploaded(client: Client, community: Community, run_with: Run) -> None:
    pages: list[str] = []
    run_with(lambda: pages.append(upload(client, community).content.decode()))
    assert BUSY in pages[0]
    move = Move.objects.get()
    assert (move.status, move.has_upload, Message.objects.count()) == ("done", False, 3)
    assert "is being checked" in upload(client, community).content.decode()


def test_a_file_whose_command_was_killed_can_be_uploaded_when_its_lease_has_ended(
    client: Client, community: Community, run_with: Run
) -> None:
    move_ids = []

    def kill() -> None:
        move_ids.append(Move.objects.get().pk)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_with(kill)
    Move.objects.update(lease_id=move_ids[0], leased_until=timezone.now() + Move.LEASE)
    assert BUSY in upload(client, community).content.decode()
    Move.objects.update(leased_until=timezone.now() - timedelta(seconds=1))
    assert "is being checked" in upload(client, community).content.decode()


def test_another_run_of_the_command_needs_no_lease(community: Community, tmp_path: Path, run_with: Run) -> None:
    (other := tmp_path / "other").mkdir()
    run_with(lambda: import_few(community, other))
    move = Move.objects.get()
    assert (move.status, move.lease_id, Message.objects.count()) == ("done", None, 3)


def test_a_run_whose_import_was_taken_over_changes_nothing_of_it(run_with: Run) -> None:
    def take_over() -> None:
        Move.objects.update(status=MoveStatus.UPLOADED, has_upload=True, lease_id=None, leased_until=None)

    with pytest.raises(CommandError, match="Wait until the current step"):
        run_with(take_over)
    move = Move.objects.get()
    assert (move.status, move.has_upload, move.error) == ("uploaded", True, "")


def test_an_import_that_is_removed_while_a_command_reads_its_file_is_due_at_once(run_with: Run) -> None:
    def remove() -> None:
        begin_undo(Move.objects.get(), by=None)
        assert jobs.IMPORTS.rows().unleased().exists()

    with pytest.raises(CommandError, match="undo_import"):
        run_with(remove)
    move = Move.objects.get()
    assert (move.status, move.lease_id, Message.objects.count()) == ("undoing", None, 0)


def new_import(community: Community, **values: object) -> Move:
    file = {"digest": "", "size": 1, "file_name": "old.xml", "format": "disqus", "community": community}
    return Move.objects.create(**file, **values)


def test_no_process_has_the_lease_of_an_import_that_is_being_removed(community: Community) -> None:
    command = new_import(community, status=MoveStatus.RUNNING)
    services.begin(command, map=[])
    begin_undo(Move.objects.get(), by=None)
    services.keep_lease(command)
    assert (command.lease_id, Move.objects.get().lease_id) == (None, None)


def test_a_worker_stops_when_its_import_is_removed(community: Community) -> None:
    new_import(community, status=MoveStatus.WAITING, has_upload=True)
    worker = take(jobs.IMPORTS.rows().unleased())
    assert worker
    services.begin(worker, map=[])
    begin_undo(Move.objects.get(), by=None)
    with pytest.raises(LeaseLost):
        Progress(worker)(Step("reading", 1, 2))
    assert jobs.IMPORTS.rows().unleased().exists()


def test_a_worker_that_removes_an_import_goes_on_when_its_removal_is_begun_again(community: Community) -> None:
    begin_undo(new_import(community, status=MoveStatus.DONE), by=None)
    worker = take(jobs.IMPORTS.rows().unleased())
    assert worker
    begin_undo(Move.objects.get(), by=None)
    Progress(worker)(Step("undoing", 1, 2))


def test_a_run_keeps_its_own_lease_when_another_one_begins(
    community: Community, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = new_import(community, status=MoveStatus.RUNNING)
    second, refresh = Move.objects.get(), Move.refresh_from_db

    def begin_another_before(move: Move) -> None:
        monkeypatch.setattr(Move, "refresh_from_db", refresh)
        services.begin(second, map=[])
        move.refresh_from_db()

    monkeypatch.setattr(Move, "refresh_from_db", begin_another_before)
    services.begin(first, map=[])
    assert (first.lease_id != second.lease_id, second.lease_id) == (True, Move.objects.get().lease_id)


def test_a_run_without_the_lease_takes_it_when_no_other_has_it(community: Community) -> None:
    first = new_import(community, status=MoveStatus.RUNNING)
    second = Move.objects.get()
    services.begin(first, map=[])
    for holder in (first, second):
        services.keep_lease(holder)
    assert (first.lease_id == Move.objects.get().lease_id, second.lease_id) == (True, None)
    release(first)
    services.keep_lease(second)
    assert second.lease_id == Move.objects.get().lease_id
    Move.objects.update(status=MoveStatus.UPLOADED, lease_id=None, leased_until=None)
    services.keep_lease(second)
    assert second.lease_id is None


def test_the_removal_of_an_import_that_was_given_up_goes_on_in_the_background(
    community: Community, tmp_path: Path
) -> None:
    import_few(community, tmp_path)
    move = Move.objects.get()
    Move.objects.update(status=MoveStatus.FAILED, attempts=jobs.ATTEMPTS_MAX + 1)
    begin_undo(move, by=None)
    assert run_due("imports") == 1
    move.refresh_from_db()
    assert (move.status, Message.objects.count()) == (MoveStatus.UNDONE, 0)


def test_an_import_whose_removal_has_begun_is_not_given_up(community: Community, tmp_path: Path) -> None:
    import_few(community, tmp_path)
    Move.objects.update(status=MoveStatus.WAITING, attempts=jobs.ATTEMPTS_MAX, has_upload=True)
    taken = take(jobs.IMPORTS.rows().unleased())
    assert taken is not None
    Move.objects.update(status=MoveStatus.FAILED)
    begin_undo(Move.objects.get(), by=None)
    jobs.run_step(taken)
    assert Move.objects.get().status == MoveStatus.UNDOING
