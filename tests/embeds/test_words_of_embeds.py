"""The word lists of embeds hold for the posts of their community, through the embed or not."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from embeds.content_rules import LISTS_MAX
from embeds.models import Embed, EmbedStatus
from embeds.services import delete_embed
from kernel.database.sql import fetch_all
from messaging.communities.content_rules import community_columns
from messaging.models import Community, Message, Moderator, Page
from messaging.pages.page_ids import normalize
from tests.agents.factories import agent_with_token
from tests.api import Answer, Api
from tests.embeds.making import an_embed
from tests.factories import CommunityFactory, MessageFactory, PageFactory, PersonFactory, SuperAdminFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def community() -> Community:
    community: Community = CommunityFactory()
    return community


def page_at(url: str) -> Page:
    known: Page | None = Page.objects.filter(pk=normalize(url).page_id).first()
    page: Page = known or PageFactory(url=url)
    return page


def post(community: Community | None, url: str = "https://site.example/a", **body: Any) -> Answer:
    sent = {"pageId": page_at(url).pk, "content": "Buy SPAM"} | body
    if community is not None:
        sent["communityId"] = str(community.pk)
    return Api.as_person(PersonFactory()).post("/api/messages", sent)


def is_refused(community: Community, url: str = "https://site.example/a") -> bool:
    answer = post(community, url)
    assert (answer.status, answer.json.get("error")) in {(201, None), (422, "content_blocked")}
    return answer.status == 422


def test_a_word_of_an_embed_is_refused_without_its_header(community: Community) -> None:
    an_embed(community_id=community.pk, blocked_words=["spam"], domain_whitelist=["site.example"])
    assert is_refused(community)
    assert not Message.objects.exists()
    assert not is_refused(CommunityFactory())
    assert post(None).status == 201


@pytest.mark.parametrize("status", ["active", "paused", "disabled"])
def test_the_words_hold_while_an_embed_is_paused_and_not_when_it_is_disabled(community: Community, status: str) -> None:
    embed = an_embed(community_id=community.pk, blocked_words=["spam"])
    Embed.objects.filter(pk=embed.pk).update(status=status, status_to_restore=EmbedStatus.ACTIVE)
    assert is_refused(community) == (status != "disabled")


def test_the_words_of_a_deleted_embed_hold_nowhere(community: Community) -> None:
    author, embed = Api.as_person(PersonFactory()), an_embed(community_id=community.pk, blocked_words=["spam"])
    sent = {"pageId": PageFactory().pk, "content": "Good day"}
    made = author.post("/api/messages", sent, headers={"x-service-embed-id": str(embed.pk)})
    delete_embed(embed_id=embed.pk, owner=embed.owner)
    assert not is_refused(community)
    assert author.put(f"/api/messages/{made.json['id']}", {"content": "spam"}).status == 200


@pytest.mark.parametrize(
    ("whitelist", "url", "refused"),
    [
        ([], "https://other.example/", True),
        (["site.example"], "https://site.example/deep/page?x=1", True),
        (["site.example"], "https://www.site.example/", True),
        (["www.site.example"], "https://site.example/", True),
        (["www.site.example"], "https://www.site.example/", True),
        (["site.example"], "http://site.example/", True),
        (["site.example:8443"], "https://site.example:8443/", True),
        (["site.example:8443"], "https://site.example/", False),
        (["site.example"], "https://site.example:8443/", True),
        (["*.site.example"], "https://blog.site.example/", True),
        (["*.site.example"], "https://a.blog.site.example/", True),
        # The page may be at www.site.example, which its normalised address does not tell.
        (["*.site.example"], "https://site.example/", True),
        (["site.example"], "https://blog.site.example/", False),
        (["site.example"], "https://site.example.evil.example/", False),
        (["site.example"], "https://notsite.example/", False),
        (["other.example", "site.example"], "https://site.example/", True),
        (["xn--bcher-kva.example"], "https://bücher.example/", True),
        (["[::1]:3000"], "http://[::1]:3000/", True),
        (["localhost"], "http://localhost:3000/", True),
    ],
)
def test_the_words_hold_on_pages_whose_host_the_whitelist_names(
    community: Community, whitelist: list[str], url: str, refused: bool
) -> None:
    an_embed(community_id=community.pk, blocked_words=["spam"], domain_whitelist=whitelist)
    assert is_refused(community, url) == refused


@pytest.mark.parametrize("host", ["a*b.example", "*.site.example", "a..example", ".site.example"])
def test_a_page_whose_host_no_entry_can_name_takes_posts(community: Community, host: str) -> None:
    an_embed(community_id=community.pk, blocked_words=["spam"], domain_whitelist=["*.site.example"])
    assert not is_refused(community, f"https://{host}/a")
    an_embed(community_id=community.pk, blocked_words=["spam"])
    assert is_refused(community, f"https://{host}/a")


def test_replies_quotes_edits_and_dry_runs_are_refused_too(community: Community) -> None:
    author = PersonFactory()
    api, page = Api.as_person(author), PageFactory(url="https://site.example/a")
    parent = MessageFactory(page=page, community=community)
    own = MessageFactory(page=page, community=community, author=author, content="Fine")
    an_embed(community_id=community.pk, blocked_words=["spam"], domain_whitelist=["site.example"])
    body: dict[str, Any] = {"pageId": page.pk, "content": "spam"}
    answers = [
        api.post("/api/messages", body | {"parentId": str(parent.pk)}),
        api.post("/api/messages", body | {"quoteId": str(parent.pk), "communityId": str(community.pk)}),
        api.post("/api/messages?dryRun=true", body | {"communityId": str(community.pk)}),
        api.put(f"/api/messages/{own.pk}", {"content": "spam"}),
    ]
    assert [(answer.status, answer.error) for answer in answers] == [(422, "content_blocked")] * 4
    own.refresh_from_db()
    assert own.content == "Fine"


def test_an_edit_is_refused_on_the_own_host_only_and_by_the_words_of_now(community: Community) -> None:
    author = PersonFactory()
    here, there = (
        MessageFactory(page=PageFactory(url=f"https://{host}/a"), community=community, author=author)
        for host in ("site.example", "other.example")
    )
    embed = an_embed(community_id=community.pk, domain_whitelist=["site.example"])
    Embed.objects.filter(pk=embed.pk).update(blocked_words=["spam"])
    edited = [Api.as_person(author).put(f"/api/messages/{own.pk}", {"content": "spam"}).status for own in (here, there)]
    assert edited == [422, 200]


def test_agents_and_their_tools_are_refused_too(community: Community) -> None:
    an_embed(community_id=community.pk, blocked_words=["spam"])
    agent = agent_with_token()
    body = {"pageId": PageFactory().pk, "content": "spam", "communityId": str(community.pk)}
    assert agent.api.post("/api/messages", body).error == "content_blocked"
    arguments = {"url": "https://site.example/a", "content": "spam", "communityId": str(community.pk)}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "write_post", "arguments": arguments}}
    result = agent.api.post("/mcp", call).json["result"]
    assert result["isError"]
    assert "content_blocked" in str(result)
    assert not Message.objects.exists()


def test_the_embed_of_the_header_holds_on_every_page_and_for_replies_in_other_communities(community: Community) -> None:
    embed = an_embed(community_id=community.pk, blocked_words=["spam"], domain_whitelist=["site.example"])
    page = PageFactory(url="https://elsewhere.example/")
    headers = {"x-service-embed-id": str(embed.pk)}
    for parent in (None, MessageFactory(page=page), MessageFactory(page=page, community=CommunityFactory())):
        body = {"pageId": page.pk, "content": "spam"} | ({"parentId": str(parent.pk)} if parent else {})
        assert Api.as_person(PersonFactory()).post("/api/messages", body, headers=headers).status == 422


def test_the_words_of_moderators_hold_beside_any_number_of_other_embeds(community: Community) -> None:
    owner, stranger = PersonFactory(), PersonFactory()
    others = [
        Embed(owner=stranger, community=community, name="Another", blocked_words=[f"word{number}"])
        for number in range(LISTS_MAX + 5)
    ]
    Embed.objects.bulk_create(others)
    an_embed(owner, community_id=community.pk, blocked_words=["spam"])
    assert not is_refused(community)
    Moderator.objects.create(community=community, account=owner)
    assert is_refused(community)


def test_a_stranger_forbids_no_words_in_a_community_with_moderators(community: Community) -> None:
    """An open community lets anybody choose it for an embed."""
    moderator, stranger, boss = PersonFactory(), PersonFactory(), SuperAdminFactory()
    embed = an_embed(stranger, community_id=community.pk, blocked_words=["spam"])
    assert is_refused(community)
    Moderator.objects.create(community=community, account=moderator)
    assert not is_refused(community)
    through_it = Api.as_person(PersonFactory()).post(
        "/api/messages",
        {"pageId": page_at("https://site.example/a").pk, "content": "spam"},
        headers={"x-service-embed-id": str(embed.pk)},
    )
    assert through_it.error == "content_blocked"
    # Who does not moderate any more is a stranger.
    own = Moderator.objects.create(community=community, account=stranger)
    assert is_refused(community)
    own.delete()
    assert not is_refused(community)
    an_embed(boss, community_id=community.pk, blocked_words=["spam"])
    assert is_refused(community)


def queries_of(**body: Any) -> int:
    api, page = Api.as_person(PersonFactory()), PageFactory()
    with CaptureQueriesContext(connection) as captured:
        assert api.post("/api/messages", {"pageId": page.pk, "content": "Good day"} | body).status == 201
    return len(captured)


def test_a_post_needs_no_further_query(community: Community) -> None:
    without, before = queries_of(), queries_of(communityId=str(community.pk))
    for number in range(3):
        an_embed(community_id=community.pk, blocked_words=[f"word{number}"])
    assert (queries_of(), queries_of(communityId=str(community.pk))) == (without, before)
    with CaptureQueriesContext(connection) as captured:
        assert queries_of() == without
    assert not any("embeds_embed" in query["sql"] for query in captured)


def test_the_word_lists_of_a_community_are_read_by_an_index(community: Community) -> None:
    """Only embeds with words are read, of very many in one community."""
    owner = PersonFactory()
    others = [Embed(owner=owner, community=community, name="Another") for _ in range(300)]
    Embed.objects.bulk_create(others)
    an_embed(community_id=community.pk, blocked_words=["spam"])
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE embeds_embed")
    (column,) = community_columns(page_url="https://site.example/a")
    statement = f"EXPLAIN SELECT {column.sql} FROM messaging_community WHERE id = %(community)s"
    plan = fetch_all(statement, {"community": community.pk, **column.values})
    assert any("embeds_with_words" in line for (line,) in plan), plan
