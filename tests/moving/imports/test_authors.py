"""Who wrote an imported post: whom the foreign system has signed in, else a mail address and a name."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from kernel.jobs.queue import run_due
from messaging.accounts.deleted import HEIR_IDS
from messaging.models import BulkJob, Community, Message, PostsChoice
from messaging.moderation.bulk_jobs import start_on_posts_of
from messaging.privacy.erasing import request_erasure
from moving import claims
from moving.models import ImportedAuthor
from tests.agents.racing import race
from tests.factories import SuperAdminFactory
from tests.moving.imports.importing import HOST, Imported, import_posts, rows_of
from tests.moving.imports.test_claims import PATH, client_of, person_with
from tests.moving.writing import Comment, write

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("bystander")]
SHARED = "no@mail.example"
NAMES = ("Ada", "Ben", "Cy", "ADA", "")
COMMENTS = [Comment(n, 0, f"By {name}", author=name, email=SHARED) for n, name in enumerate(NAMES, 1)]


@pytest.fixture(params=["disqus", "wordpress", "isso"])
def format_(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def run(format_: str, comments: list[Comment], community: Community, tmp_path: Path) -> Imported:
    return import_posts(format_, write(format_, tmp_path / "file", comments), community, tmp_path / "r.csv", map=HOST)


def names(community: Community) -> dict[str, str]:
    return dict(Message.objects.filter(community=community).values_list("content", "author__name"))


def merge(community: Community) -> ImportedAuthor:
    """As an earlier release has imported the authors of an address: they are the first of them."""
    first, *others = ImportedAuthor.objects.filter(community=community).order_by("pk")
    Message.objects.filter(community=community).update(author=first.account)
    ImportedAuthor.objects.filter(pk__in=[each.pk for each in others]).delete()
    first.source_id = first.source_id.rpartition(":")[0]
    first.save()
    return first


def test_people_who_typed_one_address_are_several_authors(format_: str, community: Community, tmp_path: Path) -> None:
    first = run(format_, COMMENTS, community, tmp_path)
    expected = {"By Ada": "Ada", "By Ben": "Ben", "By Cy": "Cy", "By ADA": "Ada", "By": "Guest"}
    assert names(community) == expected
    said = [(row["source_id"], row["reason"].partition(":")[0]) for row in first.report]
    shared = 'The mail address of its author, "{}", is also that of "Ada"'
    assert said == [
        ("2", shared.format("Ben")),
        ("3", shared.format("Cy")),
        ("4", 'Its author is called "ADA" here, and "Ada" in all posts'),
        ("5", shared.format("Guest")),
    ]
    rows = list(ImportedAuthor.objects.order_by("pk").values())
    again = run(format_, COMMENTS, community, tmp_path)
    assert (again.counts["new"], again.report, names(community)) == (0, first.report, expected)
    assert list(ImportedAuthor.objects.order_by("pk").values()) == rows


def test_a_person_of_the_address_sees_the_names_and_takes_over_one(community: Community, tmp_path: Path) -> None:
    run("isso", COMMENTS, community, tmp_path)
    person = person_with(SHARED)
    client = client_of(person)
    page = client.get(PATH).content.decode()
    assert all(f"<bdi>{name}</bdi>" in page for name in ("Ada", "Ben", "Cy", "Guest"))
    assert "Several people may have written it" in page
    ben = ImportedAuthor.objects.get(account__name="Ben", community=community)
    assert client.post(PATH, {"author": ben.pk}).status_code == 302
    expected = {"By Ada": "Ada", "By Ben": person.name, "By Cy": "Cy", "By ADA": "Ada", "By": "Guest"}
    assert names(community) == expected


def test_a_signed_in_user_is_one_author_and_a_row_says_where_the_name_differs(
    community: Community, tmp_path: Path
) -> None:
    by_user_1 = [Comment(n, 0, f"By {n}", author=name) for n, name in enumerate(("Ada", "Ada L.", ""), 1)]
    file = write("wordpress", tmp_path / "a.xml", by_user_1)
    first = import_posts("wordpress", file, community, tmp_path / "r.csv")
    reason = 'Its author is called "Ada L." here, and "Ada" in all posts: the foreign id is the same.'
    assert set(names(community).values()) == {"Ada"}
    assert [row["reason"] for row in first.report] == [reason]
    write("wordpress", file, [Comment(9, 0, "Later", author="Ada Lovelace")])
    later = import_posts("wordpress", file, community, tmp_path / "r.csv")
    assert names(community)["Later"] == "Ada"
    assert [row["reason"] for row in later.report] == [
        'Posts of "Ada Lovelace" have the name "Ada", as after an earlier import.'
    ]


def test_an_earlier_import_is_parted_by_name_when_its_file_comes_again(
    format_: str, community: Community, tmp_path: Path
) -> None:
    first = run(format_, COMMENTS, community, tmp_path)
    expected = names(community)
    merged = merge(community)
    more = [Comment(11, 0, "Ada again", author="ada", email=SHARED), Comment(12, 0, "Ben", author="Ben", email=SHARED)]
    later = run(format_, more, community, tmp_path)
    assert later.report[0]["reason"].startswith("The mail address")
    assert names(community) == dict.fromkeys(expected, "Ada") | {"Ada again": "Ada", "Ben": "Ben"}
    assert Message.objects.get(content="Ada again").author == merged.account
    run(format_, COMMENTS, community, tmp_path)
    assert names(community) == expected | {"Ada again": "Ada", "Ben": "Ben"}
    assert Message.objects.filter(author=merged.account).count() == 3
    before = rows_of(community)
    assert run(format_, COMMENTS, community, tmp_path).report == first.report
    assert rows_of(community)[4:] == before[4:]
    person = person_with(SHARED)
    assert claims.claimable_by(person).count() == 4
    assert claims.claim(author_id=merged.pk, person=person)
    assert names(community)["By Ben"] == "Ben"


@pytest.mark.django_db(transaction=True)
def test_two_runs_at_once_part_each_author_once(community: Community, tmp_path: Path) -> None:
    run("disqus", COMMENTS, community, tmp_path)
    expected = names(community)
    merge(community)
    race(2, lambda at: import_posts("disqus", tmp_path / "file", community, tmp_path / f"{at}.csv"))
    assert names(community) == expected
    assert ImportedAuthor.objects.filter(community=community).count() == 4


@pytest.mark.parametrize("is_claimed", [True, False])
def test_what_a_person_has_claimed_or_a_job_changes_is_not_parted(
    is_claimed: bool, community: Community, tmp_path: Path
) -> None:
    run("isso", COMMENTS[:2], community, tmp_path)
    merged = merge(community)
    if is_claimed:
        assert claims.claim(author_id=merged.pk, person=person_with(SHARED))
    else:
        start_on_posts_of(merged.account, kind=BulkJob.HIDE_POSTS, by=SuperAdminFactory())
    before = names(community)
    assert len(set(before.values())) == 1
    run("isso", COMMENTS[:2], community, tmp_path)
    assert names(community) == before


@pytest.mark.parametrize("is_earlier", [False, True])
def test_an_erased_person_of_the_address_does_not_come_back_by_another_name(
    is_earlier: bool, community: Community, tmp_path: Path
) -> None:
    run("isso", COMMENTS[:2], community, tmp_path)
    if is_earlier:
        merge(community)
    person = person_with(SHARED)
    ada = claims.claimable_by(person).first()
    assert ada is not None
    assert claims.claim(author_id=ada.pk, person=person)
    request_erasure(person=person, posts=PostsChoice.DELETED, by=person, wait=timedelta())
    assert run_due("erasures") == 1
    later = [Comment(n, 0, f"Later {name}", author=name, email=SHARED) for n, name in ((21, "Ada"), (22, "Dee"))]
    answers = [Comment(n + 10, n, "Answer", author="Eve") for n in (21, 22)]
    run("isso", [*later, *answers], community, tmp_path)
    added = Message.objects.filter(community=community, replies__content="Answer")
    assert {post.author_id for post in added} == {HEIR_IDS["human"]}
    assert {post.content for post in added} == ({""} if is_earlier else {"", "Later Dee"})
    assert not ImportedAuthor.objects.exclude(email="").exists()


def test_the_address_of_an_erased_person_who_claimed_nothing_does_not_come_back(
    community: Community, tmp_path: Path
) -> None:
    run("isso", COMMENTS[:1], community, tmp_path)
    merge(community)
    person = person_with(SHARED)
    request_erasure(person=person, posts=PostsChoice.ANONYMOUS, by=person, wait=timedelta())
    assert run_due("erasures") == 1
    run("isso", COMMENTS[:3], community, tmp_path)
    heir = Message.objects.get(content="By Ben").author
    assert names(community) == {"By Ada": "Ada", "By Ben": heir.name, "By Cy": heir.name}
    assert not ImportedAuthor.objects.exclude(email="").exists()
