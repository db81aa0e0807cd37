"""The command `import_posts`: each foreign post once, dry runs, reports, refusals, and what others see meanwhile."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.core.management import CommandError
from django.db import connection
from django.test import Client
from psycopg.conninfo import make_conninfo

from kernel.changes.models import Change
from kernel.jobs.queue import run_due
from mails.collecting import collect
from mails.models import Notice
from messaging.accounts.deleted import HEIR_IDS
from messaging.models import Account, Community, Decision, HandleClaim, HiddenHere, Message, Page, Webhook
from messaging.moderation.pages import hide_here, pin_message
from messaging.moderation.services import hide_message, restore_message
from messaging.pages.moving import move_page
from messaging.pages.page_ids import normalize
from moving.imports import running
from moving.imports.undoing import begin_undo, undo
from moving.management.commands import import_posts as import_posts_command
from moving.models import ImportedAuthor, ImportedPage, ImportedPost, Move
from reactions.models import Reaction
from tests.agents.racing import race
from tests.api import Api
from tests.commands.running import refused, run
from tests.factories import CommunityFactory, MessageFactory, PersonFactory, SuperAdminFactory
from tests.messaging.test_derived_rows import check
from tests.moving.files import FACTS, SAMPLES
from tests.moving.imports.generating import HEAD, disqus, one_thread, post_xml, thread_xml
from tests.moving.imports.importing import HOST, MAP, import_own, import_posts, page_of, shown
from tests.service import ROOT
from tests.waiting import PATIENCE_SECONDS, eventually

SAMPLE = SAMPLES / "disqus.xml"
pytestmark = pytest.mark.django_db
# An import of this many takes long enough to be stopped.
POSTS = 2_500


def rows() -> tuple[int, ...]:
    models = (Message, HandleClaim, Page, Move, ImportedPost, ImportedAuthor, ImportedPage, Change)
    return (*(model.objects.count() for model in models), Account.objects.exclude(pk__in=HEIR_IDS.values()).count())


def test_a_dry_run_writes_nothing_and_the_import_does_what_it_has_told(community: Community, tmp_path: Path) -> None:
    collect()
    before = rows()
    dry = import_posts("disqus", SAMPLE, community, tmp_path / "dry.csv", map=MAP, dry_run=True)
    assert rows() == before
    assert "nothing was written" in dry.out
    real = import_posts("disqus", SAMPLE, community, tmp_path / "real.csv", map=MAP)
    assert dry.counts == real.counts
    assert dry.report == real.report

    # The report has a row for all that was skipped or changed.
    skipped = [row for row in real.report if row["action"] == "skipped"]
    assert real.counts["found in the file"] == real.counts["new"] + len(skipped)
    assert [row["reason"] for row in skipped].count("It is spam.") == 9
    assert any("84 characters" in row["reason"] for row in real.report if row["action"] == "changed")
    assert list(real.report[0]) == ["source_id", "address", "action", "reason"]

    # Posts have their dates, order and authors.
    listed = Api().get("/api/messages", pageId=page_of("bridge"), limit=100).json["messages"]
    dates = [message["createdAt"] for message in listed]
    assert dates == sorted(dates, reverse=True)
    assert dates[0] < "2022"
    assert {message["communityId"] for message in listed} == {str(community.pk)}
    assert "The Lantern (editor)" in {message["author"]["name"] for message in listed}
    assert all(message["importedScore"] is None for message in listed)

    # Authors cannot sign in.
    authors = Account.objects.filter(imported_authors__isnull=False)
    assert authors.count() == ImportedAuthor.objects.count() > 10
    assert not any(author.is_active or author.has_usable_password() or author.is_staff for author in authors)
    assert HandleClaim.objects.filter(handle__in=authors.values("handle")).count() == authors.count()
    assert authors.filter(name="Sam Okafor").count() == 2

    # There is one change a page, and no event, mail or webhook.
    assert set(Change.objects.values_list("type", "account_id")) == {("page.imported", None)}
    changes = Api().get("/v1/changes", communityId=str(community.pk), limit=100).json["changes"]
    assert len(changes) == ImportedPage.objects.count() == 12
    (bridge,) = [change for change in changes if change["pageId"] == page_of("bridge")]
    assert (bridge["type"], bridge["message"], bridge["messageId"]) == ("page.imported", None, None)
    assert bridge["posts"] == Message.objects.filter(page_id=page_of("bridge")).count()
    collect()
    assert not Notice.objects.exists()
    assert not Webhook.objects.exists()
    import_posts("disqus", SAMPLE, community, tmp_path / "r.csv", map=MAP)
    assert Change.objects.count() == 12


def test_each_step_is_told_and_the_report_is_beside_the_input_by_default(community: Community, tmp_path: Path) -> None:
    file = disqus(tmp_path / "small.xml", posts=30)
    imported = import_posts("disqus", file, community, tmp_path / "r.csv")
    told = [line.partition(":") for line in imported.err.splitlines()]
    assert list(dict.fromkeys(name for name, *_rest in told)) == ["reading", "ordering", "writing", "ending"]
    assert any(text.startswith(" 30 of 30 posts") for name, _, text in told if name == "ordering")
    run("import_posts", str(file), "--from", "disqus", "--community", str(community.pk), "--any-host", "--dry-run")
    assert (tmp_path / "small.xml.report.csv").read_text().splitlines() == ["source_id,address,action,reason"]


@pytest.mark.slow
def test_a_thread_may_have_more_levels_than_python_has_calls(community: Community, tmp_path: Path) -> None:
    levels = sys.getrecursionlimit() + 50
    imported = import_posts("disqus", one_thread(tmp_path / "a.xml", levels=levels), community, tmp_path / "r.csv")
    assert (imported.counts["new"], imported.counts["changed"]) == (levels, 0)
    posts = dict(Message.objects.values_list("pk", "parent_id"))
    (level,) = [pk for pk, parent in posts.items() if parent is None]
    answers = {parent: pk for pk, parent in posts.items()}
    for _ in range(levels - 1):
        level = answers[level]
    assert Message.objects.get(pk=level).content == f"Level {levels - 1}"
    assert undo_import(imported.id) == levels
    assert not Message.objects.exists()


def test_long_texts_are_written_in_smaller_batches(
    community: Community, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write, numbers = running.write, []

    def counted(posts: Any, *rest: Any, **more: Any) -> Any:
        numbers.append(len(posts))
        return write(posts, *rest, **more)

    monkeypatch.setattr(running, "write", counted)
    file = disqus(tmp_path / "a.xml", posts=60, words=2_400)
    assert import_posts("disqus", file, community, tmp_path / "r.csv").counts["new"] == 60
    assert len(numbers) > 1
    assert max(numbers) < 60


def test_a_text_at_the_cap_is_stored_whole_and_a_longer_one_is_cut(community: Community, tmp_path: Path) -> None:
    texts = ["a" * 20_000, "b" * 20_001]
    posts = ({"id": text[0], "content": text} for text in texts)
    imported = import_own(tmp_path / "a.jsonl", community, *posts)
    assert {message.content for message in Message.objects.all()} == {texts[0], "b" * 19_999 + "…"}
    assert [(row["source_id"], row["reason"]) for row in imported.report] == [
        ("b", "The text has 20,001 characters and was cut to 20,000.")
    ]


def test_an_edit_before_the_post_or_in_the_future_is_none(community: Community, tmp_path: Path) -> None:
    times = ("1969-12-31T00:00:00Z", "2026-11-01T08:00:00Z", "9000-01-01T00:00:00Z")
    posts = ({"id": time, "editedAt": time, "updatedAt": time} for time in times)
    import_own(tmp_path / "a.jsonl", community, *posts)
    written = [(post.edited_at, post.updated_at == post.created_at) for post in Message.objects.all()]
    assert written == [(None, True)] * 3


def test_a_mention_in_an_imported_post_reaches_nobody(community: Community, tmp_path: Path) -> None:
    PersonFactory(handle="bridge")
    file = disqus(tmp_path / "m.xml", posts=2)
    file.write_text(file.read_text().replace("the bridge", "@bridge"))
    import_posts("disqus", file, community, tmp_path / "r.csv")
    assert not Change.objects.exclude(type="page.imported").exists()


def test_overlapping_files_have_each_post_once_in_each_community(community: Community, tmp_path: Path) -> None:
    first = disqus(tmp_path / "a.xml", posts=60, pages=3)
    longer = disqus(tmp_path / "b.xml", posts=90, pages=3)
    import_posts("disqus", first, community, tmp_path / "r.csv")
    again = import_posts("disqus", longer, community, tmp_path / "r.csv")
    assert (again.counts["new"], again.counts["earlier"]) == (30, 60)
    assert (Message.objects.count(), Move.objects.count()) == (90, 2)
    import_posts("disqus", first, CommunityFactory(), tmp_path / "r.csv")
    assert Message.objects.count() == 150


def test_approval_does_not_hold_back_imported_posts(tmp_path: Path) -> None:
    community = CommunityFactory(blocked_words=["blocked"], pre_moderation="everyone", read_only=True)
    import_posts("disqus", disqus(tmp_path / "a.xml", posts=10), community, tmp_path / "r.csv")
    assert Message.objects.filter(status="published").count() == 10


def test_a_cached_list_has_the_imported_posts_at_once(community: Community, tmp_path: Path) -> None:
    page = Api().post("/v1/presence/normalize-url", {"url": "https://big.example/articles/0/"}).json["pageId"]
    assert Api().get("/api/messages", pageId=page).json["messages"] == []
    import_posts("disqus", disqus(tmp_path / "a.xml", posts=5, pages=1), community, tmp_path / "r.csv")
    assert Api().get("/api/messages", pageId=page).json["messages"]


def test_a_bad_option_is_refused(community: Community, tmp_path: Path) -> None:
    file, before = str(disqus(tmp_path / "a.xml", posts=1)), rows()
    known = ("--community", str(community.pk))
    for path, arguments, said in (
        (file, (*known, "--map", "nothing"), "OLD=NEW"),
        (file, (*known, "--map", "old.example=https://"), "OLD=NEW"),
        (file, (*known, "--report", "/nowhere/at/all.csv"), "--report"),
        (file, ("--community", "x"), "does not exist"),
        (file, ("--community", "00000000-0000-7000-8000-000000000000"), "does not exist"),
        (str(tmp_path / "none.xml"), known, "cannot be read"),
        (str(tmp_path), known, "cannot be read"),
    ):
        assert said in refused("import_posts", path, "--from", "disqus", *arguments)
    assert rows()[0] == before[0]
    assert "no import" in refused("undo_import", "00000000-0000-7000-8000-000000000000")
    assert "no id" in refused("undo_import", "x")


HOSTILE = sorted(path.name for path in (SAMPLES / "hostile").iterdir())


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_gives_a_report_or_a_refusal(name: str, community: Community, tmp_path: Path) -> None:
    facts, refusal = FACTS["hostile"][name], ""
    maps = HOST if facts["format"] == "isso" else ()
    may_refuse = any(facts.get(key) for key in ("may_refuse", "must_refuse", "also_fine_to_refuse_clearly"))
    try:
        import_posts(facts["format"], SAMPLES / "hostile" / name, community, tmp_path / "r.csv", map=maps)
    except CommandError as failure:
        refusal = str(failure)
    count = shown(community).count()
    if refusal:
        assert may_refuse, refusal
        assert "\n" not in refusal
        assert len(refusal) > 20
        assert count == 0
    else:
        assert facts["shown_at_least"] <= count <= facts["shown_at_most"]
    check()


def test_posts_without_a_page_are_reported(community: Community, tmp_path: Path) -> None:
    file = disqus(tmp_path / "a.xml", posts=4, pages=1)
    file.write_text(file.read_text().replace("https://big.example/articles/0/", "/articles/0/"))
    imported = import_posts("disqus", file, community, tmp_path / "r.csv")
    assert (imported.counts["new"], imported.counts["skipped"]) == (0, 4)
    assert "--map /=" in imported.report[0]["reason"]
    mapped = import_posts("disqus", file, community, tmp_path / "r.csv", map=("/=https://big.example/",))
    assert (mapped.counts["new"], mapped.id) == (4, imported.id)


@pytest.mark.usefixtures("bystander")
def test_undoing_restores_what_was_before(community: Community, tmp_path: Path) -> None:
    before = rows()
    imported = import_posts("disqus", SAMPLE, community, tmp_path / "r.csv", map=MAP)
    hidden = Message.objects.filter(status="published", community=community).latest("id")
    hide_message(message_id=hidden.pk, by=SuperAdminFactory(), reason="An advertisement.")
    assert undo_import(imported.id) == imported.counts["new"]
    # The decision of the super admin stays.
    assert not Message.objects.filter(pk=hidden.pk).exists()
    decided = Decision.objects.get(act="hidden")
    assert (decided.message_id, decided.reason) == (None, "An advertisement.")
    after = rows()
    assert (after[0], after[1] - 1, after[-1] - 1) == (before[0], before[1], before[-1])
    assert not ImportedPost.objects.filter(community=community).exists()
    assert not ImportedAuthor.objects.filter(community=community).exists()
    assert Move.objects.get(community=community).status == "undone"
    assert undo_import(imported.id) == 0
    changes = Change.objects.filter(page_id=page_of("bridge"), type="page.imported").order_by("id")
    posts = [change.data["posts"] for change in changes]
    assert posts[0] > 0
    assert sum(posts) == 0
    check()
    again = import_posts("disqus", SAMPLE, community, tmp_path / "r.csv", map=MAP)
    assert again.counts["new"] == imported.counts["new"]


@pytest.mark.usefixtures("bystander")
def test_undoing_removes_the_texts_of_posts_from_the_history_and_leaves_the_reasons(
    community: Community, tmp_path: Path
) -> None:
    imported = import_own(tmp_path / "a.jsonl", community, {"id": "1"}, {"id": "2"})
    removed, answered = Message.objects.filter(community=community)
    MessageFactory(parent=answered)
    for post in (removed, answered):
        hide_message(message_id=post.pk, by=SuperAdminFactory(), reason="An advertisement.")
    assert undo_import(imported.id) == 2
    entries = LogEntry.objects.filter(object_id__in=[str(removed.pk), str(answered.pk)])
    decided = ("", "Hidden (published → hidden): An advertisement.")
    assert list(entries.values_list("object_repr", "change_message")) == [decided] * 2


def test_undoing_removes_posts_that_are_pinned_or_hidden_on_the_pages_of_others(
    community: Community, tmp_path: Path
) -> None:
    imported = import_own(tmp_path / "a.jsonl", community, {"id": "1"}, {"id": "2"})
    elsewhere, bystander, by = CommunityFactory(), MessageFactory(), SuperAdminFactory()
    pinned, hidden = Message.objects.filter(community=community)
    pin_message(message_id=pinned.pk, by=by)
    for post in (hidden, bystander):
        hide_here(community_id=elsewhere.pk, message_id=post.pk, by=by)
    assert undo_import(imported.id) == 2
    # Foreign keys are checked at the commit.
    connection.check_constraints()
    assert not Message.objects.filter(community=community).exists()
    assert list(HiddenHere.objects.values_list("message_id", flat=True)) == [bystander.pk]


@pytest.mark.parametrize("first", [0, 1])
def test_no_author_is_left_of_overlapping_imports_that_are_undone(
    community: Community, tmp_path: Path, first: int
) -> None:
    before = Account.objects.count(), HandleClaim.objects.count()
    ids = [
        import_own(tmp_path / "a.jsonl", community, {"id": "1"}).id,
        import_own(tmp_path / "b.jsonl", community, {"id": "1"}, {"id": "2"}).id,
    ]
    assert [undo_import(ids[first]), ImportedAuthor.objects.count()] == [1, 1]
    undo_import(ids[1 - first])
    assert ImportedAuthor.objects.count() == 0
    # The accounts of erased people stay.
    assert (Account.objects.exclude(pk__in=HEIR_IDS.values()).count(), HandleClaim.objects.count()) == before


def undo_import(move_id: str) -> int:
    return int(run("undo_import", move_id).split(": ")[1].split()[0].replace(",", ""))


@pytest.mark.usefixtures("bystander")
def test_a_post_that_people_answered_since_stays_without_its_content(community: Community, tmp_path: Path) -> None:
    imported = import_posts("disqus", disqus(tmp_path / "a.xml", posts=30, pages=1), community, tmp_path / "r.csv")
    parent = Message.objects.filter(parent__isnull=False, parent__parent=None).first()
    quoted = Message.objects.filter(community=community).exclude(pk__in=[parent.pk, parent.parent_id]).first()
    person = Api.as_person(PersonFactory())
    body = {"pageId": parent.page_id, "content": "I was there."}
    reply = person.post("/api/messages", body | {"parentId": str(parent.pk)}).json
    person.post("/api/messages", body | {"quoteId": str(quoted.pk)})
    for message_id in (str(parent.pk), reply["id"]):
        assert person.post("/v1/reactions", {"messageId": message_id, "emoji": "👍"}).status == 200
    assert undo_import(imported.id) == 30
    assert str(Reaction.objects.exclude(message__community__name="Bystander").get().message_id) == reply["id"]
    left = {message.pk: message for message in Message.objects.filter(status="deleted")}
    assert set(left) == {parent.pk, parent.parent_id, quoted.pk}
    assert {message.content for message in left.values()} == {""}
    assert [left[parent.pk].is_tombstone, left[parent.parent_id].is_tombstone] == [True, True]
    assert (left[parent.pk].reply_count, left[parent.pk].reaction_total) == (1, 0)
    assert Api().get(f"/api/messages/{reply['id']}").status == 200
    assert not Account.objects.filter(imported_authors__community=community).exists()
    check()


def test_an_answered_post_that_a_moderator_has_hidden_stays_hidden_with_the_answers(
    community: Community, tmp_path: Path
) -> None:
    imported = import_own(tmp_path / "a.jsonl", community, {"id": "1"})
    parent, boss = Message.objects.get(), SuperAdminFactory()
    reply = MessageFactory(parent=parent)
    hide_message(message_id=parent.pk, by=boss)
    assert undo_import(imported.id) == 1
    assert Message.objects.get(pk=parent.pk).content == ""
    assert Api().get(f"/api/messages/{reply.pk}").status == 404
    restore_message(message_id=parent.pk, by=boss)
    shown = [Api().get(f"/api/messages/{post.pk}").json["status"] for post in (parent, reply)]
    assert shown == ["deleted", "published"]
    check()


def test_what_is_undone_is_told_on_the_page_that_the_posts_have_moved_to(community: Community, tmp_path: Path) -> None:
    imported = import_posts("disqus", disqus(tmp_path / "a.xml", posts=3, pages=1), community, tmp_path / "r.csv")
    page = Message.objects.first().page
    # As if other rules had given the URL its id.
    page.normalized_url = "https://lantern.example/moved"
    page.save()
    move_page(page)
    assert undo_import(imported.id) == 3
    told = Change.objects.filter(type="page.imported").order_by("id").values_list("page_id", "data__posts")
    moved_to = normalize(page.normalized_url).page_id
    assert list(told) == [(moved_to, 3), (moved_to, -3)]


def test_a_command_that_undoes_is_in_the_log_once(community: Community, tmp_path: Path) -> None:
    imported = import_posts("disqus", disqus(tmp_path / "a.xml", posts=3), community, tmp_path / "r.csv")
    begin_undo(Move.objects.get(), by=None)
    assert undo_import(imported.id) == 3
    assert list(Decision.objects.values_list("act", "by", "reason")) == [("undone", None, "a.xml")]


class TestProcesses:
    """Real processes, on the database of the test."""

    pytestmark = [pytest.mark.slow, pytest.mark.processes, pytest.mark.django_db(transaction=True)]

    @pytest.fixture
    def file(self, tmp_path: Path) -> Path:
        return disqus(tmp_path / "big.xml", posts=POSTS, pages=20, words=5)

    @pytest.fixture
    def started(self) -> Iterator[list[subprocess.Popen[str]]]:
        processes: list[subprocess.Popen[str]] = []
        yield processes
        for process in processes:
            process.kill()
            process.wait()

    def test_a_killed_import_goes_on_where_it_was(
        self, file: Path, community: Community, started: list[subprocess.Popen[str]], tmp_path: Path
    ) -> None:
        (temporary := tmp_path / "temporary").mkdir()
        for sent in (signal.SIGKILL, signal.SIGTERM):
            already = Message.objects.count()
            started.append(process := start(file, community, TMPDIR=str(temporary)))
            assert eventually(lambda already=already: Message.objects.count() > already)
            process.send_signal(sent)
            process.wait(PATIENCE_SECONDS)
            assert not list(temporary.iterdir())
        assert 0 < Message.objects.count() < POSTS
        imported = import_posts("disqus", file, community, tmp_path / "r.csv")
        assert Message.objects.count() == ImportedPost.objects.count() == POSTS
        assert imported.counts["new"] < POSTS
        assert Move.objects.get().status == "done"
        check_counts()

    def test_two_processes_at_once_write_each_post_once(
        self, file: Path, community: Community, started: list[subprocess.Popen[str]]
    ) -> None:
        started += [start(file, community) for _ in range(2)]
        outputs = [process.communicate(timeout=300) for process in started]
        assert [process.returncode for process in started] == [0, 0], outputs
        assert Message.objects.count() == POSTS
        assert Move.objects.get().status == "done"
        assert ImportedAuthor.objects.count() == Account.objects.filter(is_active=False).count()
        assert sum(Change.objects.filter(type="page.imported").values_list("data__posts", flat=True)) == POSTS
        check_counts()

    def test_people_post_while_an_import_runs(
        self, file: Path, community: Community, started: list[subprocess.Popen[str]]
    ) -> None:
        page = Api().post("/v1/presence/normalize-url", {"url": "https://big.example/articles/0/"}).json["pageId"]
        person = Api.as_person(PersonFactory())
        started.append(process := start(file, community))
        assert eventually(Message.objects.exists)
        statuses = []
        for number in range(20):
            body = {"pageId": page, "communityId": str(community.pk), "content": f"Meanwhile {number}."}
            parent = Message.objects.filter(page_id=page).order_by("?").values_list("pk", flat=True).first()
            statuses.append(person.post("/api/messages", body | ({"parentId": str(parent)} if parent else {})).status)
        assert process.wait(timeout=300) == 0
        assert set(statuses) == {201}
        assert Message.objects.count() == POSTS + 20
        check_counts()

    def test_undoing_stops_a_running_import_and_may_be_stopped_itself(
        self, file: Path, community: Community, started: list[subprocess.Popen[str]]
    ) -> None:
        started.append(process := start(file, community))
        assert eventually(Message.objects.exists)
        move = Move.objects.get()
        begin_undo(move, by=None)
        _out, err = process.communicate(timeout=300)
        assert process.returncode == 1
        assert "undo_import" in err
        assert "Traceback" not in err
        connection.close()
        with pytest.raises(KeyboardInterrupt):
            undo(move, tell=interrupt)
        undo(move, tell=lambda _step: None)
        assert not Message.objects.exists()
        assert not ImportedAuthor.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_importers_in_threads_write_each_post_once(community: Community, tmp_path: Path) -> None:
    files = [disqus(tmp_path / f"{posts}.xml", posts=posts, pages=2, words=3) for posts in (400, 500)]

    race(2, lambda at: import_posts("disqus", files[at], community, tmp_path / f"{at}.csv"))
    assert Message.objects.count() == 500
    check_counts()


def interrupt(_step: object) -> None:
    raise KeyboardInterrupt


def start(file: Path, community: Community, **environment: str) -> subprocess.Popen[str]:
    database = make_conninfo(os.environ["DATABASE_URL"], dbname=connection.settings_dict["NAME"])
    return subprocess.Popen(
        [
            *(sys.executable, "-W", "ignore", "manage.py", "import_posts", str(file), "--any-host", "--from", "disqus"),
            *("--community", str(community.pk), "--report", f"{file}.{os.urandom(4).hex()}.csv"),
        ],
        cwd=ROOT,
        env=os.environ | {"DATABASE_URL": database} | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def check_counts() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT count(*) FROM messaging_message m WHERE reply_count <> (
                SELECT count(*) FROM messaging_message r
                WHERE r.parent_id = m.id AND (r.status = 'published' OR r.is_tombstone)
            )
            """
        )
        assert cursor.fetchone() == (0,)
        cursor.execute(
            "SELECT (SELECT sum(posts + replies) FROM messaging_pagecount), (SELECT count(*) FROM messaging_message)"
        )
        counted, posts = cursor.fetchone()
        assert counted == posts


# Imports in the admin: read-only, with an action that undoes one.


def test_a_super_admin_undoes_an_import(tmp_path: Path) -> None:
    import_posts("disqus", disqus(tmp_path / "a.xml", posts=5), CommunityFactory(), tmp_path / "r.csv")
    move, boss, client = Move.objects.get(), SuperAdminFactory(), Client()
    client.force_login(boss)
    assert "a.xml" in client.get("/admin/moving/move/").content.decode()
    assert client.get(f"/admin/moving/move/{move.pk}/change/").status_code == 200
    path = f"/admin/moving/move/{move.pk}/undo/"
    assert "are removed" in client.get(path).content.decode()
    assert client.post(path, {"reason": "Wrong file."}).status_code == 302
    move.refresh_from_db()
    assert move.status == "undoing"
    run_due("imports")
    assert not Message.objects.exists()
    assert Decision.objects.filter(act="undone", by=boss, reason="a.xml: Wrong file.").exists()
    assert LogEntry.objects.filter(object_id=str(move.pk), user=boss, change_message="Undone: Wrong file.").exists()


def test_a_post_of_invisible_characters_is_a_row_and_no_post(community: Community, tmp_path: Path) -> None:
    file = tmp_path / "export.xml"
    posts = "".join(post_xml(number, text, 0, number, None) for number, text in enumerate(("\u200b\u2800", "Seen")))
    file.write_text(f"{HEAD}{thread_xml(0)}{posts}</disqus>")
    imported = import_posts("disqus", file, community, tmp_path / "r.csv")
    assert [message.content for message in Message.objects.all()] == ["Seen"]
    assert [row["reason"] for row in imported.report] == ["It has no text."]


def test_a_run_renews_its_lease_between_its_steps(
    community: Community, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    renewed: list[Move] = []
    monkeypatch.setattr(import_posts_command, "EVERY_SECONDS", 0)
    monkeypatch.setattr(import_posts_command.services, "keep_lease", renewed.append)
    imported = import_own(tmp_path / "a.jsonl", community, {"id": "1"})
    assert {str(move.pk) for move in renewed} == {imported.id}
