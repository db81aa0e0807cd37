"""A person takes over imported posts by a verified mail address; nobody else can."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.apps import apps
from django.db import transaction
from django.test import Client
from django.utils import timezone

from kernel.database.sql import execute
from kernel.jobs.queue import run_due
from kernel.personal_data import Subject
from messaging.accounts.deleted import HEIR_IDS
from messaging.communities.bans import ban_account
from messaging.communities.moderators import add_moderator
from messaging.models import Account, Act, Ban, BulkJob, Decision, HandleClaim, JobState, Message, PostsChoice
from messaging.moderation.bulk_jobs import start_on_posts_of, start_undo, stop_job
from messaging.moderation.exceptions import AccountNotFound
from messaging.moderation.lists.running import run_to_end
from messaging.privacy.erasing import heirs, request_erasure
from moving import claims
from moving.exceptions import ImportNotFound, PostsChanging
from moving.models import ImportedAuthor
from moving.personal_data import erase
from reactions import queries
from reactions.models import Reaction
from tests.agents.racing import race
from tests.commands.running import run
from tests.embeds.site_tokens import Site
from tests.factories import CommunityFactory, MessageFactory, PersonFactory, SuperAdminFactory
from tests.messaging.test_hiding import wrong_counts
from tests.moving.imports.generating import disqus
from tests.moving.imports.importing import import_own, import_posts
from tests.sessions import wait_until_another_waits

pytestmark = pytest.mark.django_db
PATH = "/account/me/imported-posts/"


@pytest.fixture
def author(tmp_path: Path) -> ImportedAuthor:
    import_posts("disqus", disqus(tmp_path / "a.xml", posts=30, pages=2), CommunityFactory(), tmp_path / "r.csv")
    found = ImportedAuthor.objects.get(email="a1@big.example")
    assert Message.objects.filter(author=found.account).exists()
    return found


def person_with(address: str, *, verified: bool = True) -> Account:
    person = PersonFactory()
    apps.get_model("account", "EmailAddress").objects.create(
        user=person, email=address, verified=verified, primary=True
    )
    return person


def client_of(person: Account) -> Client:
    client = Client()
    client.force_login(person)
    return client


def test_a_person_takes_over_the_posts_of_their_address(author: ImportedAuthor, tmp_path: Path) -> None:
    person, posts = person_with("A1@Big.example"), Message.objects.filter(author=author.account).count()
    others = Message.objects.exclude(author=author.account).order_by("pk")
    before = list(others.values())
    client = client_of(person)
    assert author.account.name in client.get(PATH).content.decode()
    page = client.post(PATH, {"author": author.pk}, follow=True).content.decode()
    assert "These posts are yours now." in page
    assert Message.objects.filter(author=person).count() == posts
    assert list(others.exclude(author=person).values()) == before
    assert not Account.objects.filter(pk=author.account_id).exists()
    assert not HandleClaim.objects.filter(handle=author.account.handle).exists()
    page = client.post(PATH, {"author": author.pk}, follow=True).content.decode()
    assert "These posts are yours already." in page
    assert client_of(PersonFactory()).post(PATH, {"author": author.pk}).status_code == 404


def test_a_person_takes_over_the_posts_of_an_account_of_a_site_with_their_address() -> None:
    site, person = Site(), person_with("ada@site.example")
    reader = site.reader(email="Ada@Site.example")
    post = site.write(reader).json["id"]
    assert reader.post("/v1/reactions", {"messageId": post, "emoji": "👍"}).status == 200
    other = site.write(site.reader(sub="43", email="grace@site.example")).json["id"]
    banned = site.write(site.reader(sub="44", email="ada@site.example", name="Banned")).json["id"]
    ban_account(community_id=site.community.pk, account_id=site.account("44").pk, by=site.owner)
    client, account = client_of(person), site.account()
    page = client.get(PATH).content.decode()
    assert ("Ada Lovelace" in page, "Banned" in page, str(site.account("43").pk) in page) == (True, False, False)
    for _ in range(2):
        page = client.post(PATH, {"site_account": str(account.pk)}, follow=True).content.decode()
        assert "These posts are yours now." in page
    for subject, status in [("43", 404), ("44", 200)]:
        refused = client.post(PATH, {"site_account": str(site.account(subject).pk)}, follow=True)
        assert refused.status_code == status
    assert client.post(PATH, {"site_account": "x"}).status_code == 404
    assert set(Message.objects.filter(author=person).values_list("pk", flat=True)) == {UUID(post)}
    assert set(Message.objects.exclude(author=person).values_list("pk", flat=True)) == {UUID(other), UUID(banned)}
    assert Reaction.objects.get().account == person
    # The reader goes on at the site, and the address goes with the person.
    assert site.write(site.reader(email="ada@site.example")).status == 201
    request_erasure(person=person, posts=PostsChoice.DELETED, by=person, wait=timedelta())
    assert run_due("erasures") == 1
    assert (site.account().email, site.account("43").email) == ("", "grace@site.example")


@pytest.mark.django_db(transaction=True)
def test_of_presses_at_once_one_takes_the_posts_over(author: ImportedAuthor) -> None:
    person, posts = person_with("a1@big.example"), Message.objects.filter(author=author.account).count()
    clients = [client_of(person) for _ in range(6)]
    pages = race(6, lambda number: clients[number].post(PATH, {"author": author.pk}, follow=True).content.decode())
    assert sorted("yours now" in page for page in pages) == [False] * 5 + [True]
    assert sorted("yours already" in page for page in pages) == [False] + [True] * 5
    assert Message.objects.filter(author=person).count() == posts


def test_posts_of_a_later_file_are_the_persons_only_after_another_claim(author: ImportedAuthor, tmp_path: Path) -> None:
    """Its author id may be invented by who imports it."""
    person = person_with("a1@big.example")
    assert claims.claim(author_id=author.pk, person=person)
    claimed = set(Message.objects.filter(author=person).values_list("pk", flat=True))
    longer = disqus(tmp_path / "b.xml", posts=300, pages=2)
    for _ in range(2):
        import_posts("disqus", longer, author.community, tmp_path / "r.csv")
        assert set(Message.objects.filter(author=person).values_list("pk", flat=True)) == claimed
    later = claims.claimable_by(person).get()
    new = Message.objects.filter(author=later.account_id).count()
    assert new > 0
    assert claims.claim(author_id=later.pk, person=person)
    assert Message.objects.filter(author=person).count() == len(claimed) + new
    request_erasure(person=person, posts=PostsChoice.DELETED, by=person, wait=timedelta())
    assert run_due("erasures") == 1
    rows = ImportedAuthor.objects.filter(source_id=author.source_id)
    assert set(rows.values_list("email", "account", "posts_are_erased")) == {("", HEIR_IDS["human"], True)}


def test_others_cannot(author: ImportedAuthor) -> None:
    for address, verified in (("a1@big.example", False), ("a2@big.example", True), ("", True)):
        person = person_with(address, verified=verified)
        with pytest.raises(ImportNotFound):
            claims.claim(author_id=author.pk, person=person)
        assert client_of(person).post(PATH, {"author": author.pk}).status_code == 404
    assert Message.objects.filter(author=author.account).exists()


def test_many_posts_are_taken_over_in_several_requests(author: ImportedAuthor, monkeypatch: Any) -> None:
    person = person_with("a1@big.example")
    posts = Message.objects.filter(author=author.account).count()
    monkeypatch.setattr(claims, "BATCH", 1)
    monkeypatch.setattr(claims, "BATCHES_MAX", 2)
    assert posts > 4
    calls = 1
    while not claims.claim(author_id=author.pk, person=person):
        calls += 1
    assert calls > 2
    assert Message.objects.filter(author=person).count() == posts


def test_an_erasure_forgets_the_address_of_an_author_whom_the_person_has_not_claimed(author: ImportedAuthor) -> None:
    person, other = person_with("A1@big.example"), ImportedAuthor.objects.get(email="a2@big.example")
    subject = Subject((person.pk,), (person.handle,), heirs(), delete_posts=True)
    assert (erase(subject), erase(subject)) == (1, 0)
    author.refresh_from_db()
    assert (author.email, author.claimed_at) == ("", None)
    assert ImportedAuthor.objects.get(pk=other.pk).email == "a2@big.example"


@pytest.mark.parametrize("posts", PostsChoice)
def test_an_erased_author_stays_erased_when_the_import_is_removed_and_repeated(
    posts: PostsChoice, author: ImportedAuthor, tmp_path: Path
) -> None:
    person, written = person_with("a1@big.example"), Message.objects.filter(author=author.account)
    texts = set(written.values_list("content", flat=True))
    assert claims.claim(author_id=author.pk, person=person)
    request_erasure(person=person, posts=posts, by=person, wait=timedelta())
    assert run_due("erasures") == 1
    name = author.account.name
    run("undo_import", str(author.move_id))
    import_posts("disqus", tmp_path / "a.xml", author.community, tmp_path / "r.csv")
    assert not Account.objects.filter(name=name).exists()
    assert not ImportedAuthor.objects.filter(email="a1@big.example").exists()
    again = Message.objects.filter(author__in=HEIR_IDS.values())
    assert again.exists()
    expected = {""} if posts == PostsChoice.DELETED else texts
    assert set(again.values_list("content", flat=True)) == expected
    assert set(again.values_list("status", flat=True)) == ({"deleted"} if expected == {""} else {"published"})
    assert not wrong_counts()


def test_the_reactions_of_an_erased_author_stay_removed(tmp_path: Path) -> None:
    community = CommunityFactory()
    ben = {"id": "ben", "name": "Ben", "handle": "ben", "kind": "human"}
    reactions = [{"emoji": "👍", "author": ben, "createdAt": "2026-11-01T08:16:30Z"}]
    import_own(tmp_path / "a.jsonl", community, {"id": "1", "reactions": reactions})
    reaction = Reaction.objects.get()
    ImportedAuthor.objects.filter(account=reaction.account).update(account=heirs()["human"], claimed_at=timezone.now())
    Reaction.objects.all().delete()
    run("undo_import", str(ImportedAuthor.objects.first().move_id))  # type: ignore[union-attr]
    import_own(tmp_path / "a.jsonl", community, {"id": "1", "reactions": reactions})
    assert not Reaction.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_reaction_of_the_person_that_is_written_meanwhile_stays(author: ImportedAuthor) -> None:
    """The claim waits for the end of the write, and then leaves the reaction of the author where it is."""
    person, post = person_with("a1@big.example"), MessageFactory()
    Reaction.objects.create(message=post, account=author.account, emoji="👍")

    def claim(_number: int) -> bool:
        return claims.claim(author_id=author.pk, person=person)

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            execute(queries.LOCK, {"account": person.pk})
            Reaction.objects.create(message=post, account=person, emoji="🎉")
            claimed = pool.submit(race, 1, claim)
            wait_until_another_waits()
        assert claimed.result() == [True]
    assert set(post.reactions.values_list("account", "emoji")) == {(person.pk, "🎉"), (author.account_id, "👍")}


def test_a_ban_of_the_author_is_one_of_the_person(author: ImportedAuthor) -> None:
    person, boss = person_with("a1@big.example"), SuperAdminFactory()
    communities = [author.community, CommunityFactory(), CommunityFactory()]
    for community in communities:
        ban_account(community_id=community.pk, account_id=author.account_id, by=boss, reason="Spam")
    ban_account(community_id=communities[1].pk, account_id=person.pk, by=boss, reason="Earlier")
    add_moderator(community_id=communities[2].pk, handle=person.handle, by=boss)
    assert claims.claim(author_id=author.pk, person=person)
    bans = Ban.objects.filter(account=person)
    assert set(bans.values_list("community", "reason")) == {(communities[0].pk, "Spam"), (communities[1].pk, "Earlier")}
    assert set(Decision.objects.filter(act=Act.BANNED).values_list("account", flat=True)) == {person.pk}


def test_an_author_that_is_none_is_refused() -> None:
    client = client_of(PersonFactory())
    for sent in ("", "x", "-1", "9" * 30, "²"):
        assert client.post(PATH, {"author": sent}).status_code == 404


# A job hides or restores all posts of an imported author, whom a person claims.


ADDRESS = "a1@big.example"


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
