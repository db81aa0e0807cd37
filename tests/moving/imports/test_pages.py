"""The pages of imports of a community: upload, check, import, progress, report, removal; for its moderators alone."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import orjson
import pytest
from django.contrib.sessions.models import Session
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.http.multipartparser import MultiPartParser
from django.test import Client
from django.utils import timezone

from kernel.jobs.leases import take
from kernel.jobs.queue import run_due
from messaging.models import Account, Community, Message, Moderator
from moving import pruning, uploads
from moving.exceptions import ImportBusy
from moving.formats import PROGRAMS
from moving.imports.progress import Step
from moving.imports.undoing import begin_undo
from moving.jobs import Progress
from moving.models import Move, MovePart, MoveStatus
from tests.agents.racing import race
from tests.factories import PersonFactory
from tests.moving.files import ORIGINS, SAMPLES
from tests.moving.imports.generating import HEAD, post_xml, thread_xml
from tests.moving.imports.importing import HOST, MAP, site

pytestmark = pytest.mark.django_db
SAMPLE = (SAMPLES / "disqus.xml").read_bytes()
FEW = (HEAD + thread_xml(0) + "".join(post_xml(n, f"Post {n}", 0, n, None) for n in range(3)) + "</disqus>").encode()


@pytest.fixture
def person() -> Account:
    return PersonFactory()


@pytest.fixture
def community(person: Account) -> Community:
    return site(person, "Harbour")


@pytest.fixture
def client(person: Account) -> Client:
    return client_of(person)


def client_of(account: Account) -> Client:
    client = Client()
    client.force_login(account)
    return client


def path(community: Community, rest: str = "") -> str:
    return f"/account/communities/{community.slug}/moderation/imports/{rest}"


def page_of(client: Client, move: Move) -> str:
    return str(client.get(path(move.community, f"{move.pk}/")).content.decode())


def upload(client: Client, community: Community, content: bytes = FEW, **fields: str) -> Any:
    sent = {"format": "disqus", "map": "\n".join(MAP), "file": SimpleUploadedFile("old.xml", content), **fields}
    return client.post(path(community), sent, follow=True)


def checked(client: Client, community: Community, content: bytes = FEW, **fields: str) -> Move:
    """The import of an uploaded file after its first step."""
    upload(client, community, content, **fields)
    run_due("imports")
    return Move.objects.get(community=community)


def act(client: Client, move: Move, action: str) -> None:
    assert client.post(path(move.community, f"{move.pk}/"), {"action": action}, follow=True).status_code == 200


def test_the_operator_may_allow_no_uploads(client: Client, community: Community, settings: Any) -> None:
    settings.IMPORT_UPLOAD_MAX = 0
    shown = client.get(path(community)).content.decode()
    assert "multipart" not in shown
    assert "Ask the operator of the service" in shown
    assert "errorlist" in upload(client, community).content.decode()
    assert not Move.objects.exists()


def test_a_file_that_was_uploaded_before_uploads_were_ended_is_imported(
    client: Client, community: Community, settings: Any
) -> None:
    upload(client, community)
    settings.IMPORT_UPLOAD_MAX = 0
    assert run_due("imports") == 1
    act(client, Move.objects.get(), "start")
    assert run_due("imports") == 1
    assert Move.objects.get().status == "done"


@pytest.mark.parametrize(
    ("content", "in_file", "shown", "in_report"),
    [
        pytest.param(SAMPLE, 326, 301, "It is spam.", marks=pytest.mark.slow, id="sample"),
        pytest.param(FEW, 3, 3, "", id="few"),
    ],
)
@pytest.mark.usefixtures("bystander")
def test_a_file_is_checked_imported_and_removed(
    person: Account,
    client: Client,
    community: Community,
    content: bytes,
    in_file: int,
    shown: int,
    in_report: str,
) -> None:
    own = Message.objects.filter(community=community)
    response = upload(client, community, content)
    assert "is being checked" in response.content.decode()
    assert response.headers["Refresh"]
    assert run_due("imports") == 1
    move = Move.objects.get(community=community)
    assert (move.status, move.started_by, own.count()) == ("checked", person, 0)
    page = page_of(client, move)
    assert "The first posts" in page
    assert f"<li>Posts in the file: <b>{in_file}</b>" in page
    act(client, move, "start")
    assert run_due("imports") == 1
    assert own.filter(status="published").count() == shown
    report = b"".join(client.get(path(community, f"{move.pk}/report/")).streaming_content).decode()  # type: ignore[arg-type]
    assert report.startswith("source_id,address,action,reason")
    assert in_report in report
    act(client, move, "undo")
    assert run_due("imports") == 1
    move.refresh_from_db()
    assert (move.status, own.count()) == ("undone", 0)
    assert not move.parts.filter(kind="upload").exists()
    assert "removed" in client.get(path(community)).content.decode()
    log = client.get(path(community).replace("imports/", "log/")).content.decode()
    assert "Removed an import" in log
    assert "old.xml" in log


def test_the_preview_shows_texts_as_posts_will_show_them(client: Client, community: Community) -> None:
    text = "<p><b>Bold</b></p><p>1. May &lt;script&gt;</p>" + "<p>long text</p>" * 50
    posts = "".join(post_xml(number, text, 0, number, None) for number in range(12))
    move = checked(client, community, f"{HEAD}{thread_xml(0)}{posts}</disqus>".encode())
    assert {len(post["text"]) for post in move.preview} == {300}
    shown = '<p dir="auto"><strong>Bold</strong></p><p dir="auto">1. May &lt;script&gt;</p>'
    assert page_of(client, move).count(shown) == 10


def test_the_preview_has_the_first_published_posts(person: Account, community: Community) -> None:
    of_all = {
        "type": "post",
        "pageUrl": "https://lantern.example/letters/",
        "author": {"id": "ada", "name": "Ada", "handle": "ada", "kind": "human"},
        "createdAt": "2026-11-01T08:15:30Z",
    }
    deleted = {"id": "0", "status": "deleted", "content": ""}
    posts = [{"id": f"{n}", "parentId": "0", "status": "published", "content": f"Post {n}"} for n in range(1, 13)]
    header = {"type": "header", "format": "community-messaging", "version": 1}
    lines = [header, *(of_all | post for post in (deleted, *posts)), {"type": "end", "posts": 13, "reactions": 0}]
    upload(client_of(person), community, b"".join(orjson.dumps(line) + b"\n" for line in lines), format="jsonl", map="")
    run_due("imports")
    move = Move.objects.get()
    assert [post["text"] for post in move.preview] == [post["content"] for post in posts[:10]]
    assert move.file_name == "old.xml"


def test_the_page_names_the_current_step(client: Client, community: Community) -> None:
    upload(client, community)
    Move.objects.update(status=MoveStatus.RUNNING)
    move = take(Move.objects.unleased())
    assert move
    page = page_of(client, move)
    assert "<label>is being imported <progress" in page
    assert 'value="0"' in page
    for step, said in (("ordering", "Settling the order of the posts"), ("ending", "Finishing the import")):
        Progress(move)(Step(step, 1, 4))
        page = page_of(client, move)
        assert f"<label>{said} <progress" in page
        assert 'value="25"' in page


def test_the_same_file_is_the_same_import(client: Client, community: Community) -> None:
    upload(client, community)
    assert "Wait until the current step" in upload(client, community).content.decode()
    run_due("imports")
    upload(client, community)
    assert Move.objects.count() == 1


def others(count: int) -> list[bytes]:
    """As many files as that, each of which is another import."""
    return [FEW + b"<!-- %d -->" % number for number in range(count)]


def moderator_of(community: Community) -> Account:
    moderator = PersonFactory()
    Moderator.objects.create(community=community, account=moderator)
    return moderator


def upload_several(person: Account, community: Community, of: str, contents: list[bytes]) -> list[Any]:
    """Imports into one community by several people, or by one person into several; returns their ids in order."""
    for number, content in enumerate(contents):
        into = community if of == "community" or number % 2 else site(person, f"Site {number}")
        upload(client_of(person if of == "person" else moderator_of(community)), into, content)
        run_due("imports")
    return list(Move.objects.order_by("created_at").values_list("pk", flat=True))


@pytest.mark.parametrize("of", ["community", "person"])
def test_only_the_newest_files_are_stored(person: Account, client: Client, community: Community, of: str) -> None:
    elsewhere = imported_elsewhere()
    upload_several(person, community, of, others(uploads.FILES_MAX))
    upload(client, community)
    moves = list(Move.objects.order_by("created_at").values_list("pk", flat=True))
    stored = Move.objects.filter(has_upload=True).order_by("created_at").values_list("pk", flat=True)
    assert list(stored) == [elsewhere, *moves[2:]]
    assert set(MovePart.objects.filter(kind="upload").values_list("move", flat=True)) == set(stored)


def test_files_of_imports_under_way_are_kept_and_a_further_one_is_refused(client: Client, community: Community) -> None:
    *under_way, further = others(uploads.FILES_MAX + 1)
    for content in under_way:
        upload(client_of(moderator_of(community)), community, content)
    assert "Wait until the current step" in upload(client, community, further).content.decode()
    assert Move.objects.filter(has_upload=True).count() == Move.objects.count() == uploads.FILES_MAX
    assert MovePart.objects.count() == uploads.FILES_MAX


@pytest.mark.django_db(transaction=True)
def test_files_that_are_uploaded_at_once_are_counted_together(community: Community) -> None:
    contents = others(uploads.FILES_MAX + 3)
    people = [moderator_of(community) for _content in contents]

    def is_taken(number: int) -> bool:
        response = upload(client_of(people[number]), community, contents[number])
        return b"Wait until the current step" not in response.content

    taken = race(len(contents), is_taken)
    assert taken.count(True) == Move.objects.count() == uploads.FILES_MAX


def upload_pieces(community: Community, pieces: Callable[[], Iterator[bytes]], *, size: int, by: Account) -> None:
    source = {"format": "disqus", "map": MAP, "file_name": "old.xml"}
    uploads.upload(community=community, size=size, pieces=pieces, by=by, **source)


@pytest.mark.parametrize("is_cut_off", [False, True])
def test_a_file_is_checked_when_all_of_it_is_stored(person: Account, community: Community, is_cut_off: bool) -> None:
    content, states = FEW + b" " * uploads.PART_BYTES, []

    def pieces() -> Iterator[bytes]:
        yield content[: uploads.PART_BYTES]
        states.append((run_due("imports"), Move.objects.filter(has_upload=True).count()))
        if is_cut_off and len(states) == 2:
            raise ConnectionError
        yield content[uploads.PART_BYTES :]

    with suppress(ConnectionError):
        upload_pieces(community, pieces, size=len(content), by=person)
    assert states == [(0, 0), (0, 1)]
    Move.objects.filter(leased_until__isnull=False).update(leased_until=timezone.now() - Move.LEASE)
    assert run_due("imports") == 1
    move = Move.objects.get()
    assert move.status == (MoveStatus.FAILED if is_cut_off else MoveStatus.CHECKED)
    assert ("Upload the file again" in move.error) == is_cut_off


ITEM = b"<rss><channel><item><link>https://lantern.example/%s</link>%s</item></channel></rss>"
COMMENT = (
    b"<wp:comment><wp:comment_id>%d</wp:comment_id><wp:comment_content>A</wp:comment_content>"
    b"<wp:comment_approved>1</wp:comment_approved></wp:comment>"
)
TOO_LONG = "The content of the file has more than 1 MB."
# The format, the content and what the page says.
FAILING = {
    "no export": ("disqus", b"<html><body>Sign in</body></html>", ""),
    "of another program": ("isso", (SAMPLES / "cusdis.db").read_bytes(), "It seems to be one of Cusdis: choose that."),
    "long when it is decompressed": ("disqus", gzip.compress(FEW + b" " * 1_000_000), TOO_LONG),
    # The file has the address once for all of its comments.
    "long addresses": ("wordpress", ITEM % (b"a" * 2_000, b"".join(COMMENT % n for n in range(350))), TOO_LONG),
}


@pytest.mark.parametrize("name", FAILING)
def test_a_file_that_cannot_be_read_fails_with_a_reason(
    client: Client, community: Community, settings: Any, name: str
) -> None:
    kind, content, said = FAILING[name]
    settings.IMPORT_UPLOAD_MAX = 120_000
    move = checked(client, community, content, format=kind)
    assert move.status == MoveStatus.FAILED
    assert move.error
    page = page_of(client, move)
    assert 'role="alert"' in page
    assert said in page


@pytest.mark.parametrize("format", ORIGINS)
def test_the_sample_of_each_origin_is_uploaded_checked_and_imported(
    client: Client, community: Community, format: str
) -> None:
    move = checked(client, community, (SAMPLES / ORIGINS[format]).read_bytes(), format=format, map="\n".join(HOST))
    page = page_of(client, move)
    assert PROGRAMS[format] in page
    assert "reading room" in page
    act(client, move, "start")
    assert run_due("imports") == 1
    move.refresh_from_db()
    assert (move.status, move.counts["new"] > 4) == (MoveStatus.DONE, True)
    assert Message.objects.filter(community=community, imported=True).count() == move.counts["new"]


def test_a_bad_form_says_what_to_do(client: Client, community: Community) -> None:
    assert "At most 200.0\xa0MB." in client.get(path(community)).content.decode()
    assert "OLD=NEW, one a line." in upload(client, community, map="nothing").content.decode()
    assert "not one of the available choices" in upload(client, community, format="other").content.decode()
    assert not Move.objects.exists()


def test_a_large_file_is_taken_and_a_too_large_one_refused(client: Client, community: Community, settings: Any) -> None:
    content = FEW + b"<!-- " + b"x" * 3_000_000 + b" -->"
    settings.IMPORT_UPLOAD_MAX = 3_000_000
    assert "too large" in upload(client, community, content).content.decode()
    assert not Move.objects.exists()
    settings.IMPORT_UPLOAD_MAX = 4_000_000
    assert upload(client, community, content).status_code == 200
    assert b"".join(uploads.content_of(Move.objects.get(), MovePart.Kind.UPLOAD)) == content
    settings.IMPORT_UPLOAD_MAX = 1_000
    assert upload(client, community, content).status_code == 413
    # Only the path of imports takes a large body.
    assert client.post("/account/me/", {"x": "x" * 1_100_000}).status_code == 413


@pytest.mark.parametrize("caller", ["stranger", "expired session", "nobody"])
def test_files_of_others_than_moderators_are_refused_unread(
    client: Client, community: Community, caller: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if caller == "expired session":
        Session.objects.update(expire_date=timezone.now() - timedelta(seconds=1))
    else:
        client = Client() if caller == "nobody" else client_of(PersonFactory())
    monkeypatch.setattr(MultiPartParser, "parse", lambda _parser: pytest.fail("The body was read."))
    response = upload(client, community, FEW + b" " * 1_100_000)
    assert (response.status_code, response.wsgi_request.upload_handlers) == (413, [])
    assert not Move.objects.exists()


def test_only_moderators_see_the_imports_of_a_community(person: Account, client: Client, community: Community) -> None:
    upload(client, community)
    move = Move.objects.get()
    stranger = client_of(PersonFactory())
    for rest in ("", f"{move.pk}/", f"{move.pk}/report/"):
        assert stranger.get(path(community, rest)).status_code == 404
        assert Client().get(path(community, rest)).status_code == 302
    assert stranger.post(path(community, f"{move.pk}/"), {"action": "undo"}).status_code == 404
    another_of_the_same_person = site(person, "Other")
    assert client.get(path(another_of_the_same_person, f"{move.pk}/")).status_code == 404


def test_a_step_that_does_not_fit_is_refused(client: Client, community: Community) -> None:
    upload(client, community)
    own = path(community, f"{Move.objects.get().pk}/")
    assert client.post(own, {"action": "other"}).status_code == 404
    assert client.post(own, {"action": "start"}).status_code == 409
    # It has no posts yet.
    for status in (MoveStatus.UPLOADED, MoveStatus.CHECKED, MoveStatus.WAITING):
        Move.objects.update(status=status)
        assert "Remove this import" not in client.get(own).content.decode()
        assert client.post(own, {"action": "undo"}).status_code == 409
        assert Move.objects.get().status == status


def test_another_process_goes_on_with_the_import_of_one_that_ended(client: Client, community: Community) -> None:
    act(client, checked(client, community), "start")
    Move.objects.update(status=MoveStatus.RUNNING, lease_id=uuid4(), leased_until=timezone.now() + Move.LEASE)
    assert run_due("imports") == 0
    Move.objects.update(leased_until=timezone.now() - Move.LEASE)
    assert run_due("imports") == 1
    assert Move.objects.get().status == MoveStatus.DONE


def test_a_step_that_ends_its_process_each_time_fails_at_last(client: Client, community: Community) -> None:
    upload(client, community)
    Move.objects.update(attempts=5)
    run_due("imports")
    assert Move.objects.get().status == MoveStatus.FAILED


def pruned(now: datetime, *, dry_run: bool = False) -> dict[str, int]:
    return pruning.prune(now=now, dry_run=dry_run)


def prune_files() -> None:
    pruned(timezone.now() + pruning.FILES_STORED * 2)


def stop_at_first_batch(*_args: object, **_values: object) -> None:
    raise KeyboardInterrupt


def import_stopped() -> None:
    uploads.start(Move.objects.get())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("moving.imports.running.write", stop_at_first_batch)
        with pytest.raises(KeyboardInterrupt):
            run_due("imports")


def undo_failed() -> None:
    Move.objects.update(status=MoveStatus.FAILED)
    begin_undo(Move.objects.get(), by=None)


@pytest.mark.parametrize("end", [prune_files, import_stopped, undo_failed])
def test_the_preview_is_deleted_with_the_file_at_the_import_and_at_the_removal(
    client: Client, community: Community, end: Callable[[], None]
) -> None:
    assert checked(client, community).preview
    end()
    assert Move.objects.get().preview == []


def test_old_uploads_are_pruned_and_reports_stay(client: Client, community: Community) -> None:
    checked(client, community)
    recent, later = imported_elsewhere(), timezone.now() + pruning.FILES_STORED * 2
    Move.objects.filter(pk=recent).update(created_at=later, finished_at=later)
    assert pruned(later, dry_run=True) == pruned(later) == {"files of imports": 1, "reports of imports": 0}
    old = Move.objects.get(community=community)
    assert set(old.parts.values_list("kind", flat=True)) == {"report"}
    assert not old.can_start
    assert set(MovePart.objects.filter(move=recent).values_list("kind", flat=True)) == {"report", "upload"}


@pytest.fixture
def imported(client: Client, community: Community) -> Move:
    """An import that has ended eight days ago."""
    act(client, checked(client, community), "start")
    run_due("imports")
    long_ago = timezone.now() - timedelta(days=8)
    Move.objects.update(created_at=long_ago, finished_at=long_ago)
    return Move.objects.get()


def test_the_file_of_an_old_import_that_is_uploaded_again_is_stored_for_a_week(
    client: Client, community: Community, imported: Move
) -> None:
    checked(client, community)
    now = timezone.now()
    assert pruned(now)["files of imports"] == 0
    assert pruned(now + pruning.FILES_STORED * 2)["files of imports"] == 1


def reports() -> set[Any]:
    return set(MovePart.objects.filter(kind="report").values_list("move", flat=True))


def test_the_report_of_an_import_is_pruned_180_days_after_its_end(imported: Move) -> None:
    recent, ended = imported_elsewhere(), imported.finished_at
    assert ended is not None
    assert pruned(ended + timedelta(days=180))["reports of imports"] == 0
    later = ended + timedelta(days=180, seconds=1)
    assert pruned(later, dry_run=True)["reports of imports"] == 1
    assert reports() == {imported.pk, recent}
    assert pruned(later)["reports of imports"] == 1
    assert pruned(later)["reports of imports"] == 0
    assert reports() == {recent}


def test_pages_say_that_a_report_is_deleted(client: Client, community: Community, imported: Move) -> None:
    own, said = path(community, f"{imported.pk}/"), "No report of this import is stored."
    assert said not in client.get(own).content.decode()
    MovePart.objects.all().delete()
    page = client.get(own).content.decode()
    assert said in page
    assert "report/" not in page
    answer = client.get(f"{own}report/")
    assert (answer.status_code, said in answer.content.decode()) == (404, True)


def test_the_report_of_an_import_that_begins_meanwhile_is_not_pruned(
    client: Client, community: Community, imported: Move, monkeypatch: pytest.MonkeyPatch
) -> None:
    delete_report = pruning._delete_report

    def begins_before(*arguments: Any) -> None:
        upload(client, community)
        delete_report(*arguments)

    monkeypatch.setattr(pruning, "_delete_report", begins_before)
    pruned(timezone.now() + pruning.REPORTS_STORED)
    assert reports() == {imported.pk}


@pytest.mark.parametrize("of", ["community", "person"])
def test_only_the_newest_reports_are_stored(
    person: Account, community: Community, of: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pruning, "REPORTS_MAX", 3)
    others_report = imported_elsewhere()
    moves = upload_several(person, community, of, others(5))
    assert reports() == {others_report, *moves[-3:]}


def test_reports_elsewhere_take_no_place_of_those_of_a_community(
    person: Account, community: Community, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pruning, "REPORTS_MAX", 3)
    contents = others(4)
    of_the_moderator = checked(client_of(moderator_of(community)), community, contents[0]).pk
    elsewhere = [site(person, f"Site {number}") for number in range(2)]
    for into, content in zip([*elsewhere, community], contents[1:], strict=True):
        upload(client_of(person), into, content)
        run_due("imports")
    assert of_the_moderator in reports()


def imported_elsewhere() -> Any:
    """By another person into another community."""
    other = PersonFactory()
    return checked(client_of(other), site(other, "Elsewhere")).pk


def test_the_file_of_an_import_that_begins_meanwhile_is_not_pruned(
    client: Client, community: Community, monkeypatch: pytest.MonkeyPatch
) -> None:
    checked(client, community)
    delete_file = pruning.delete_file

    def begins_before(*arguments: Any) -> None:
        uploads.start(Move.objects.get())
        delete_file(*arguments)

    monkeypatch.setattr(pruning, "delete_file", begins_before)
    pruned(timezone.now() + pruning.FILES_STORED * 2)
    assert run_due("imports") == 1
    assert Move.objects.get().status == MoveStatus.DONE


@pytest.mark.parametrize("status", [MoveStatus.UPLOADED, MoveStatus.CHECKED, MoveStatus.WAITING])
@pytest.mark.parametrize("by", ["page", "command"])
def test_an_import_whose_file_is_uploaded_again_can_be_removed(
    client: Client, community: Community, imported: Move, status: MoveStatus, by: str
) -> None:
    upload(client, community)
    if status != MoveStatus.UPLOADED:
        run_due("imports")
    if status == MoveStatus.WAITING:
        act(client, imported, "start")
    assert Move.objects.get().status == status
    assert "Remove this import" in page_of(client, imported)
    if by == "page":
        act(client, imported, "undo")
        assert client.post(path(community, f"{imported.pk}/"), {"action": "start"}).status_code == 409
        run_due("imports")
    else:
        call_command("undo_import", str(imported.pk))
    move = Move.objects.get()
    assert (move.status, move.has_upload, Message.objects.count()) == (MoveStatus.UNDONE, False, 0)
    assert run_due("imports") == 0


@pytest.mark.parametrize("is_run_meanwhile", [False, True])
def test_an_upload_ends_when_the_removal_of_its_import_begins(
    person: Account, community: Community, imported: Move, is_run_meanwhile: bool
) -> None:
    calls = []

    def pieces() -> Iterator[bytes]:
        calls.append(1)
        yield FEW[:300]
        if len(calls) == 2:
            uploads.start_undo(Move.objects.get(), by=person)
            assert not is_run_meanwhile or run_due("imports") == 1
        yield FEW[300:600]
        if len(calls) == 2:
            pytest.fail("A further part is stored.")
        yield FEW[600:]

    with pytest.raises(ImportBusy):
        upload_pieces(community, pieces, size=len(FEW), by=person)
    assert run_due("imports") == (0 if is_run_meanwhile else 1)
    move = Move.objects.get()
    assert (move.status, move.has_upload, Message.objects.count()) == (MoveStatus.UNDONE, False, 0)
    assert not move.parts.filter(kind="upload").exists()
