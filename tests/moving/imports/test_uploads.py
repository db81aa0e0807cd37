"""What uploads may take: one import at a time for each account, and the room of their files for the service."""

from __future__ import annotations

import gzip
import tracemalloc
import zipfile
from collections.abc import Callable
from datetime import timedelta
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from kernel.jobs.queue import run_due
from messaging.models import Account, Community, Moderator
from moving import pruning, uploads
from moving.jobs import CONTENT_FILES
from moving.models import Move, MovePart, MoveStatus
from tests.agents.racing import race
from tests.factories import PersonFactory
from tests.moving.imports.importing import MAP, site
from tests.moving.imports.test_pages import (
    FEW,
    act,
    client_of,
    imported_elsewhere,
    moderator_of,
    others,
    page_of,
    path,
    upload,
)

pytestmark = pytest.mark.django_db
SECOND = "Your other import is not finished"


@pytest.fixture
def person() -> Account:
    return PersonFactory()


@pytest.fixture
def community(person: Account) -> Community:
    return site(person, "Harbour")


@pytest.fixture
def client(person: Account) -> Client:
    return client_of(person)


def stored() -> set[Any]:
    """The imports of which bytes are stored."""
    return set(MovePart.objects.filter(kind="upload").values_list("move", flat=True))


@pytest.mark.parametrize("status", [MoveStatus.UPLOADED, MoveStatus.WAITING, MoveStatus.RUNNING])
def test_a_second_import_waits_until_the_first_has_ended(
    person: Account, client: Client, community: Community, status: MoveStatus
) -> None:
    first, second = others(2)
    elsewhere = site(person, "Second")
    upload(client, community, first)
    Move.objects.update(status=status)
    move = Move.objects.get()
    response = upload(client, elsewhere, second)
    shown = response.content.decode()
    assert response.status_code == 409
    assert SECOND in shown
    assert f'href="{path(community, f"{move.pk}/")}"' in shown
    assert stored() == {move.pk}
    run_due("imports")
    assert upload(client, elsewhere, second).status_code == 200
    assert Move.objects.count() == 2


def test_the_imports_of_others_do_not_hold_back_ones_own(client: Client, community: Community) -> None:
    first, second = others(2)
    upload(client_of(moderator_of(community)), community, first)
    assert upload(client, community, second).status_code == 200
    assert Move.objects.filter(status=MoveStatus.UPLOADED).count() == 2


def test_an_import_that_waits_for_a_decision_holds_nothing_back_and_begins_after_the_other(
    client: Client, community: Community
) -> None:
    first, second = others(2)
    upload(client, community, first)
    run_due("imports")
    upload(client, community, second)
    checked, other = Move.objects.order_by("pk")
    own = path(community, f"{checked.pk}/")
    response = client.post(own, {"action": "start"})
    assert response.status_code == 409
    assert SECOND in response.content.decode()
    assert f'href="{path(community, f"{other.pk}/")}"' in response.content.decode()
    assert Move.objects.get(pk=checked.pk).status == MoveStatus.CHECKED
    run_due("imports")
    act(client, checked, "start")
    assert Move.objects.get(pk=checked.pk).status == MoveStatus.WAITING
    assert client.post(path(community, f"{other.pk}/"), {"action": "start"}).status_code == 409


def test_an_import_of_a_community_that_one_moderates_no_more_is_not_linked(
    person: Account, client: Client, community: Community
) -> None:
    first, second = others(2)
    upload(client, community, first)
    elsewhere = site(person, "Second")
    Moderator.objects.filter(community=community).delete()
    response = upload(client, elsewhere, second)
    assert response.status_code == 409
    assert SECOND in response.content.decode()
    assert community.slug not in response.content.decode()


def test_the_file_of_another_moderator_is_imported_by_who_uploads_it_again(
    person: Account, client: Client, community: Community
) -> None:
    upload(client_of(moderator_of(community)), community)
    run_due("imports")
    upload(client, community)
    assert Move.objects.get().started_by == person
    assert upload(client, site(person, "Second"), others(1)[0]).status_code == 409


@pytest.mark.django_db(transaction=True)
def test_of_uploads_at_once_one_is_taken(person: Account) -> None:
    contents = others(5)
    sites = [site(person, f"Site {number}") for number in range(5)]
    statuses = race(5, lambda n: upload(client_of(person), sites[n], contents[n]).status_code)
    assert sorted(statuses) == [200, 409, 409, 409, 409]
    assert Move.objects.filter(has_upload=True).count() == 1
    assert len(stored()) == 1


@pytest.mark.django_db(transaction=True)
def test_of_imports_that_begin_at_once_one_begins(person: Account, community: Community) -> None:
    for content in others(4):
        upload(client_of(person), community, content)
        run_due("imports")
    addresses = [path(community, f"{move.pk}/") for move in Move.objects.all()]
    statuses = race(4, lambda n: client_of(person).post(addresses[n], {"action": "start"}).status_code)
    assert sorted(statuses) == [302, 409, 409, 409]
    assert Move.objects.filter(status=MoveStatus.WAITING).count() == 1


def test_an_upload_beyond_the_room_of_the_service_is_refused_and_leaves_nothing(
    client: Client, community: Community, settings: Any, tmp_path: Path
) -> None:
    settings.FILE_UPLOAD_TEMP_DIR = str(tmp_path)
    elsewhere = imported_elsewhere()
    settings.IMPORT_DISK_MAX = len(FEW) * 2 - 1
    response = upload(client, community)
    assert response.status_code == 503
    assert "There is no room for more files" in response.content.decode()
    assert stored() == {elsewhere}
    assert Move.objects.count() == 1
    assert list(tmp_path.iterdir()) == []
    settings.IMPORT_DISK_MAX += 1
    assert upload(client, community).status_code == 200
    assert len(stored()) == 2


def test_the_same_file_again_needs_no_more_room(client: Client, community: Community, settings: Any) -> None:
    settings.IMPORT_DISK_MAX = len(FEW)
    for _ in range(2):
        assert upload(client, community).status_code == 200
        run_due("imports")
    assert b"".join(uploads.content_of(Move.objects.get(), MovePart.Kind.UPLOAD)) == FEW


def test_files_that_nobody_has_started_for_an_hour_make_room(
    client: Client, community: Community, settings: Any
) -> None:
    old, recent = imported_elsewhere(), imported_elsewhere()
    hour_ago = timezone.now() - uploads.WAITS - timedelta(minutes=1)
    Move.objects.filter(pk=old).update(created_at=hour_ago, finished_at=hour_ago)
    settings.IMPORT_DISK_MAX = len(FEW) * 2
    assert upload(client, community).status_code == 200
    own = Move.objects.get(community=community).pk
    assert stored() == {recent, own}
    assert not Move.objects.get(pk=old).can_start
    settings.IMPORT_DISK_MAX = len(FEW)
    other = moderator_of(community)
    assert upload(client_of(other), community, others(1)[0]).status_code == 503
    assert stored() == {recent, own}


@pytest.mark.django_db(transaction=True)
def test_the_room_is_counted_for_uploads_at_once(settings: Any) -> None:
    settings.IMPORT_DISK_MAX = len(FEW) * 2
    sites = [site(PersonFactory(), f"Site {number}") for number in range(5)]
    owners = [Account.objects.get(moderates__community=each) for each in sites]
    statuses = race(5, lambda n: upload(client_of(owners[n]), sites[n]).status_code)
    assert sorted(statuses) == [200, 200, 503, 503, 503]
    assert len(stored()) == 2


def has_ended(client: Client, community: Community) -> None:
    upload(client, community)
    run_due("imports")
    act(client, Move.objects.get(), "start")
    run_due("imports")


def has_failed(client: Client, community: Community) -> None:
    upload(client, community, b"<html>")
    run_due("imports")


def has_failed_too_often(client: Client, community: Community) -> None:
    upload(client, community)
    Move.objects.update(attempts=5)
    run_due("imports")


def has_been_removed(client: Client, community: Community) -> None:
    has_ended(client, community)
    act(client, Move.objects.get(), "undo")
    run_due("imports")


def has_been_imported_by_a_command(client: Client, community: Community, folder: Path) -> None:
    upload(client, community)
    run_due("imports")
    (folder / "old.xml").write_bytes(FEW)
    values = {"format": "disqus", "community": str(community.pk), "map": list(MAP), "report": str(folder / "r.csv")}
    call_command("import_posts", str(folder / "old.xml"), **values)


ENDS: dict[str, tuple[Callable[..., None], MoveStatus]] = {
    "ended": (has_ended, MoveStatus.DONE),
    "failed": (has_failed, MoveStatus.FAILED),
    "failed too often": (has_failed_too_often, MoveStatus.FAILED),
    "removed": (has_been_removed, MoveStatus.UNDONE),
    "imported by a command": (has_been_imported_by_a_command, MoveStatus.DONE),
}


@pytest.mark.parametrize("name", ENDS)
def test_the_file_of_an_import_that_is_over_is_deleted_at_once(
    client: Client, community: Community, tmp_path: Path, name: str
) -> None:
    end, status = ENDS[name]
    end(*(client, community, tmp_path)[: 3 if name == "imported by a command" else 2])
    move = Move.objects.get()
    assert (move.status, move.has_upload, stored()) == (status, False, set())
    assert ("Upload it again" in page_of(client, move)) == (status == MoveStatus.FAILED)


def test_files_that_a_stopped_process_has_left_are_pruned(client: Client, community: Community) -> None:
    has_ended(client, community)
    move, elsewhere = Move.objects.get(), imported_elsewhere()
    MovePart.objects.create(move=move, kind=MovePart.Kind.UPLOAD, number=0, data=b"x")
    pruning.prune(now=timezone.now(), dry_run=True)
    assert stored() == {move.pk, elsewhere}
    pruning.prune(now=timezone.now(), dry_run=False)
    assert stored() == {elsewhere}
    Move.objects.filter(pk=elsewhere).update(status=MoveStatus.FAILED)
    assert pruning.prune(now=timezone.now(), dry_run=False)["files of imports"] == 1
    assert stored() == set()


def test_a_part_that_an_earlier_upload_has_left_is_no_part_of_the_next(client: Client, community: Community) -> None:
    has_ended(client, community)
    MovePart.objects.create(move=Move.objects.get(), kind=MovePart.Kind.UPLOAD, number=1, data=b"x")
    upload(client, community)
    assert b"".join(uploads.content_of(Move.objects.get(), MovePart.Kind.UPLOAD)) == FEW


def zipped(content: bytes) -> bytes:
    out = BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("old.xml", content)
    return out.getvalue()


OPEN = FEW.removesuffix(b"</disqus>")
MILLION = b" " * 1_000_000
ENTITIES = b"""<?xml version="1.0"?><!DOCTYPE disqus [<!ENTITY a "aaaaaaaaaa">%s]><disqus>&j;</disqus>""" % b"".join(
    b'<!ENTITY %c "&%c;&%c;&%c;&%c;&%c;&%c;&%c;&%c;">' % (name, *[name - 1] * 8) for name in range(ord("b"), ord("k"))
)
BOMBS = {
    "gzip": (gzip.compress(OPEN + MILLION * 50), "The content of the file has more than 5 MB."),
    "gzip of many members": (gzip.compress(OPEN) + gzip.compress(MILLION) * 50, "more than 5 MB."),
    "gzip within gzip": (gzip.compress(gzip.compress(FEW + MILLION * 50)), "Disqus"),
    "zip": (zipped(FEW + MILLION * 50), "Disqus"),
    "entities": (ENTITIES, "document type"),
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_ends_early_with_a_reason_and_in_little_memory(
    client: Client, community: Community, settings: Any, name: str
) -> None:
    assert CONTENT_FILES == 5
    content, said = BOMBS[name]
    settings.IMPORT_UPLOAD_MAX = 1_000_000
    upload(client, community, content)
    tracemalloc.start()
    try:
        run_due("imports")
        _now, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    move = Move.objects.get()
    assert move.status == MoveStatus.FAILED
    assert said in move.error
    assert peak < 10_000_000
    assert stored() == set()
