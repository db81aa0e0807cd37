"""getImportedPost: POST /v1/imported finds the post that an anchor of an earlier system names."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from embeds.models import Embed
from messaging.models import Account, Community, Message, Page
from moving.models import ImportedPost
from moving.old_links import find_post
from tests.api import Answer, Api
from tests.factories import PersonFactory
from tests.moving import writing
from tests.moving.files import ORIGINS, SAMPLES
from tests.moving.imports.importing import HOST, import_posts, site
from tests.moving.writing import ADDRESS, Comment

pytestmark = pytest.mark.django_db
COMMENTS = (Comment(501, 0, "first"), Comment(502, 501, "answer"))
# By format: the anchor of comment 502.
ANCHORS = {
    "wordpress": "comment-502",
    "disqus": "comment-502",
    "isso": "isso-502",
    "remark42": "remark42__comment-502",
    "commento": "commento-502",
    "comentario": "comentario-502",
    "artalk": "atk-comment-502",
    "waline": "502",
    "twikoo": "502",
}


@pytest.fixture
def owner() -> Account:
    return PersonFactory()


@pytest.fixture
def community(owner: Account) -> Community:
    return site(owner, "Lantern")


def found(community: Community, anchor: str, url: str = ADDRESS) -> Any:
    embed = Embed.objects.get(community=community)
    answer = ask(embedId=str(embed.pk), url=url, anchor=anchor)
    assert answer.status == 200, answer.error
    return answer.json["messageId"]


def ask(**body: Any) -> Answer:
    return Api().post("/v1/imported", body)


def imported(format: str, community: Community, folder: Path, *, site_of: str = "") -> None:
    file = folder / format
    if format == "wordpress":
        file.write_text("".join(writing.wordpress(COMMENTS, home=site_of)))
    else:
        writing.write(format, file, COMMENTS)
    import_posts(format, file, community, folder / "r.csv", map=HOST)


@pytest.mark.parametrize("format", ANCHORS)
def test_the_anchor_of_each_system_is_that_of_its_post_on_its_page_alone(
    format: str, community: Community, owner: Account, tmp_path: Path
) -> None:
    imported(format, community, tmp_path, site_of="https://lantern.example/")
    answer = Message.objects.get(content="answer")
    assert found(community, ANCHORS[format]) == str(answer.pk)
    assert found(community, ANCHORS[format], f"http://www.lantern.example{urlsplit(ADDRESS).path}?utm_source=x") == str(
        answer.pk
    )
    assert found(community, ANCHORS[format].replace("502", "503")) is None
    assert found(community, ANCHORS[format], "https://lantern.example/other/") is None
    # Those of other systems, and other communities with a widget on the same page.
    others = set(ANCHORS.values()) - {ANCHORS[format]}
    assert {found(community, anchor) for anchor in others} == {None}
    assert found(site(owner, "Other"), ANCHORS[format]) is None


@pytest.mark.parametrize("format", ["comentario", "waline", "twikoo", "artalk"])
def test_the_anchors_of_the_samples_are_found(format: str, community: Community, tmp_path: Path) -> None:
    import_posts(format, SAMPLES / ORIGINS[format], community, tmp_path / "r.csv", map=HOST)
    prefix = {"comentario": "comentario-", "artalk": "atk-comment-"}.get(format, "")
    for post in ImportedPost.objects.filter(community=community):
        message = Message.objects.select_related("page").get(pk=post.message_id)
        is_shown = message.status == "published" or message.is_tombstone
        url = message.page.normalized_url
        expected = str(message.pk) if is_shown else None
        assert found(community, prefix + post.source_id.rpartition(" ")[2], url) == expected


def test_two_sites_that_number_from_1_have_their_own_posts(community: Community, tmp_path: Path) -> None:
    imported("wordpress", community, tmp_path, site_of="https://lantern.example/")
    first = found(community, "comment-502")
    file = tmp_path / "second"
    elsewhere = [comment._replace(address="https://big.example/a/") for comment in COMMENTS]
    file.write_text("".join(writing.wordpress(elsewhere, home="https://big.example/")))
    import_posts("wordpress", file, community, tmp_path / "r.csv")
    second = found(community, "comment-502", "https://big.example/a/")
    assert first != second != None  # noqa: E711
    assert found(community, "comment-502") == first


def test_a_hidden_post_is_not_found_and_an_undone_import_has_none(community: Community, tmp_path: Path) -> None:
    imported("disqus", community, tmp_path)
    Message.objects.filter(content="answer").update(status="hidden")
    assert found(community, "comment-502") is None
    assert found(community, "comment-501") is not None
    ImportedPost.objects.all().delete()
    assert found(community, "comment-501") is None


def test_what_cannot_be_asked_is_refused_and_writes_no_page(community: Community, owner: Account) -> None:
    pages = Page.objects.count()
    embed = Embed.objects.get(community=community)
    good = {"embedId": str(embed.pk), "url": ADDRESS, "anchor": "comment-1"}
    for bad, code in (
        ({"embedId": None}, "invalid_input"),
        ({"embedId": "7"}, "invalid_input"),
        ({"embedId": 7}, "invalid_input"),
        ({"embedId": "018f0000-0000-7000-8000-000000000000"}, "embed_not_found"),
        ({"url": "about:blank"}, "invalid_url"),
        ({"url": None}, "invalid_input"),
        ({"anchor": None}, "invalid_input"),
        ({"anchor": "a" * 201}, "invalid_input"),
        ({"anchor": ["comment-1"]}, "invalid_input"),
        ({"anchor": "\0"}, "invalid_input"),
    ):
        answer = ask(**{name: value for name, value in (good | bad).items() if value is not None})
        assert (answer.error, answer.status // 100) == (code, 4), bad
    paused = Embed.objects.get(community=site(owner, "Paused", status="paused"))
    assert ask(**good | {"embedId": str(paused.pk)}).status == 403
    assert Page.objects.count() == pages


def test_a_look_up_is_one_query(community: Community, tmp_path: Path, django_assert_num_queries: Any) -> None:
    imported("wordpress", community, tmp_path, site_of="https://lantern.example/")
    embed = Embed.objects.get(community=community)
    find_post(embed_id=embed.pk, url=ADDRESS, anchor="comment-501")
    with django_assert_num_queries(1):
        assert find_post(embed_id=embed.pk, url=ADDRESS, anchor="comment-502")
