"""Exports: what is in the archive, who gets it, and that it is made once, also after a crash."""

from __future__ import annotations

import io
import json
import zipfile
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from kernel.jobs.queue import run_due
from messaging.models import Account, Message, PersonExport, PersonExportPart
from messaging.privacy import archive, exports
from messaging.privacy.exceptions import ExportNotFound, TooManyExports
from messaging.privacy.exports import content_of, exports_of, ready_export, request_export
from tests.agents.racing import race
from tests.commands.running import refused, run
from tests.factories import MessageFactory, PageFactory, PersonFactory
from tests.personal_data.life import AGENT_HANDLE, HANDLE, MARK, PASSWORD, live
from tests.security.dumps import forms_of

pytestmark = pytest.mark.django_db


def made(person: Account) -> PersonExport:
    export = request_export(person=person)
    assert run_due("exports") == 1
    return ready_export(export_id=export.pk, person=person)


def files(data: bytes) -> dict[str, Any]:
    with zipfile.ZipFile(io.BytesIO(data)) as opened:
        assert opened.testzip() is None
        texts = {name.removeprefix("export/"): opened.read(name).decode() for name in opened.namelist()}
    return {name: json.loads(text) if name.endswith(".json") else text for name, text in texts.items()}


@pytest.mark.django_db(transaction=True)
def test_an_archive_has_all_that_a_person_has_stored_and_no_secret(settings: Any) -> None:
    life = live(settings)
    export = made(life.person)
    data = b"".join(content_of(export))
    assert len(data) == export.size
    found = files(data)
    for name in ("account", "posts", "reports", "reactions", "agents", "agent_requests", "agent_tokens", "embeds"):
        assert found[f"{name}.json"], name
        assert f'href="{name}.json"' in found["index.html"]
    assert found["inbox.json"]
    assert found["panel_sessions.json"]
    assert found["webhooks.json"][0]["url"].endswith(MARK)
    assert found["account.json"][0]["handle"] == HANDLE
    assert len(found["posts.json"]) == Message.objects.filter(author=life.person).count()
    versions = [version["content"] for post in found["posts.json"] for version in post["earlier_versions"]]
    assert sorted(versions) == [f"Alone {MARK} one", f"Deleted {MARK}"]
    assert [post["content"] for post in found[f"posts_of_{AGENT_HANDLE}.json"]] == [f"Of an agent {MARK}"]
    text = json.dumps(found)
    secrets = [life.agent.value, PASSWORD, life.person.password, bytes(life.agent.token.digest).hex()]
    assert not [form for secret in secrets for form in forms_of(secret) if form in text]
    assert "By Stander" not in text
    of_a_stranger = files(b"".join(content_of(made(PersonFactory()))))
    rows = {name: len(rows) for name, rows in of_a_stranger.items() if name.endswith(".json") and rows}
    assert rows == {"account.json": 1, "exports.json": 1}


def test_only_its_person_gets_an_export_and_for_seven_days() -> None:
    person, other = PersonFactory(), PersonFactory()
    waiting = request_export(person=person)
    for account in (person, other):
        with pytest.raises(ExportNotFound):
            ready_export(export_id=waiting.pk, person=account)
    run_due("exports")
    assert ready_export(export_id=waiting.pk, person=person).expires_at > timezone.now()
    with pytest.raises(ExportNotFound):
        ready_export(export_id=waiting.pk, person=other)
    of_other = made(other)
    old = PersonExport.objects.filter(pk=waiting.pk)
    old.update(requested_at=timezone.now() - timedelta(days=7, minutes=1))
    with pytest.raises(ExportNotFound):
        ready_export(export_id=waiting.pk, person=person)
    assert [exports.prune(now=timezone.now(), dry_run=dry)["exports of people"] for dry in (True, False, False)] == [
        1,
        1,
        0,
    ]
    assert set(PersonExportPart.objects.values_list("export", flat=True)) == {of_other.pk}
    assert list(PersonExport.objects.all()) == [of_other]


def test_one_export_at_a_time_and_three_a_day() -> None:
    person = PersonFactory()
    first = request_export(person=person)
    assert request_export(person=person) == first
    run_due("exports")
    for _ in range(2):
        request_export(person=person)
        run_due("exports")
    with pytest.raises(TooManyExports), transaction.atomic():
        request_export(person=person)
    PersonExport.objects.filter(pk=first.pk).update(requested_at=timezone.now() - timedelta(hours=25))
    request_export(person=person)
    assert len(exports_of(person=person)) == 4


@pytest.mark.django_db(transaction=True)
def test_two_requests_at_the_same_time_make_one_export() -> None:
    person = PersonFactory()
    first, second = race(2, lambda _number: request_export(person=person).pk)
    assert first == second
    assert sum(race(3, lambda _number: run_due("exports"))) == 1


def test_after_a_crash_another_process_makes_the_export_again(monkeypatch: pytest.MonkeyPatch) -> None:
    person = PersonFactory()
    page = PageFactory()
    MessageFactory.create_batch(20, author=person, page=page)
    monkeypatch.setattr(archive, "PART_BYTES", 500)
    request_export(person=person)
    monkeypatch.setattr(archive, "_finish", killed)
    with pytest.raises(SystemExit):
        run_due("exports")
    assert PersonExportPart.objects.exists()
    assert run_due("exports") == 0
    monkeypatch.undo()
    PersonExport.objects.update(leased_until=timezone.now() - timedelta(seconds=1))
    assert run_due("exports") == 1
    (export,) = exports_of(person=person)
    assert (export.status, export.percent, export.attempts) == ("ready", 100, 2)
    assert len(files(b"".join(content_of(export)))["posts.json"]) == 20


def killed(*args: object, **kwargs: object) -> None:
    raise SystemExit


def test_an_export_that_fails_each_time_fails_at_last_and_names_are_escaped_in_the_next(settings: Any) -> None:
    person = PersonFactory(name="<script>alert(1)</script>")
    request_export(person=person)
    settings.PERSON_EXPORTERS = ["tests.personal_data.test_export.broken"]
    for _ in range(archive.ATTEMPTS_MAX + 1):
        run_due("exports")
    (export,) = exports_of(person=person)
    assert export.status == "failed"
    settings.PERSON_EXPORTERS = []
    found = files(b"".join(content_of(made(person))))
    assert found.keys() == {"index.html"}
    assert "<script>" not in found["index.html"]


def broken(account_id: object) -> Any:
    raise ValueError("broken")


def test_a_long_export_reads_posts_in_batches_and_reports_its_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    person, page = PersonFactory(), PageFactory()
    Message.objects.bulk_create(
        Message(author=person, author_kind="human", page=page, content=f"Post {number}") for number in range(1_000)
    )
    percents: list[int] = []
    with CaptureQueriesContext(connection) as queries:
        archive.write_archive(io.BytesIO(), account_id=person.pk, progress=percents.append)
    assert percents == sorted(percents)
    assert {19, 39, 59, 79}.issubset({percent - percent % 20 + 19 for percent in percents})
    # Two for each batch of 200.
    assert len([query for query in queries if "messaging_message" in query["sql"]]) < 20


def test_the_command_writes_the_archive_to_a_file(tmp_path: Any) -> None:
    person = PersonFactory()
    file, left_by_a_crash = tmp_path / "data.zip", tmp_path / "data.zip.part"
    left_by_a_crash.touch(0o644)
    assert run("export_person", person.handle, "--output", str(file)).strip() == str(file)
    assert files(file.read_bytes())["account.json"][0]["handle"] == person.handle
    assert [path.name for path in tmp_path.iterdir()] == ["data.zip"]
    assert file.stat().st_mode & 0o777 == 0o600
    assert "no_such" in refused("export_person", "no_such")
    assert "cannot be written" in refused("export_person", person.handle, "--output", str(tmp_path / "no" / "x.zip"))
