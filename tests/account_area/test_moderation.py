"""The pages of moderators: /account/communities/ and what is below it."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from html import unescape
from typing import Any
from urllib.parse import urlencode

import pytest
from django.test import Client

from account_area.moderation.queries import POSTS_OF_PAGE
from embeds.models import Embed
from messaging.communities.bans import ban_account
from messaging.communities.services import create_community
from messaging.models import Account, Ban, Community, Decision, Message, MessageStatus, Moderator, Page
from messaging.models.moderation import open_reports
from messaging.moderation import moderators
from messaging.moderation.exceptions import ModeratorRequired
from messaging.moderation.pages import hide_here, pin_message, unpin_message
from messaging.moderation.reporting import report_message
from messaging.moderation.services import hide_message, restore_message
from messaging.pages.discussions import close_discussion, reopen_discussion
from messaging.privacy.erasing import heirs
from tests.admin.bystanders import Unchanged
from tests.api import Api
from tests.factories import AgentAccountFactory, CommunityFactory, MessageFactory, PersonFactory, SuperAdminFactory

pytestmark = pytest.mark.django_db
PENDING, PUBLISHED, HIDDEN = MessageStatus.PENDING, MessageStatus.PUBLISHED, MessageStatus.HIDDEN
PAGES = ["", "rules/", "people/", "widgets/", "log/"]
CARD, SEVERAL = 'class="decide"', 'id="several"'
LONG_AGO = datetime(2026, 5, 1, tzinfo=UTC)
NUMBER = POSTS_OF_PAGE + 3


@pytest.fixture
def community(person: Account) -> Community:
    return create_community(owner=person, name="Harbour")


def path(community: Community, page: str = "") -> str:
    return f"/account/communities/{community.slug}/moderation/{page}"


def html(client: Client, address: str, **query: Any) -> str:
    response = client.get(address, query)
    assert response.status_code == 200, address
    return response.content.decode()


def reported(community: Community, **fields: Any) -> Message:
    post: Message = MessageFactory(community=community, **fields)
    report_message(message_id=post.pk, by=PersonFactory(), reason="spam", note="<b>Again</b>", transaction=None)  # type: ignore[arg-type]
    return post


def decide(client: Client, community: Community, decision: str, *posts: Message, **fields: str) -> str:
    sent = {"decision": decision, "posts": [str(post.pk) for post in posts], **fields}
    response = client.post(path(community, "decide/"), sent, follow=True)
    assert response.status_code == 200
    return str(response.content.decode())


def signed_in(account: Account) -> Client:
    client = Client()
    client.force_login(account)
    return client


def test_only_moderators_and_super_admins_see_the_pages(community: Community, person: Account) -> None:
    owner = PersonFactory()
    Embed.objects.create(owner=owner, community=community, name="From before the rule")
    removed, banned = PersonFactory(), PersonFactory()
    Moderator.objects.create(community=community, account=removed).delete()
    ban_account(community_id=community.pk, account_id=banned.pk, by=person)
    clients = [signed_in(who) for who in (person, SuperAdminFactory(), owner, removed, banned, PersonFactory())]
    for page in PAGES:
        statuses = [client.get(path(community, page)).status_code for client in (*clients, Client())]
        assert statuses == [200, 200, 404, 404, 404, 404, 302], page


def test_a_ban_is_offered_of_authors_who_do_not_decide(client: Client, community: Community, person: Account) -> None:
    authors = [PersonFactory(), AgentAccountFactory(), SuperAdminFactory(), person]
    for author in authors:
        MessageFactory(community=community, author=author, content="Said", status=PENDING)
    assert html(client, path(community)).count('name="decision" value="ban"') == 2


def test_communities_have_a_search_after_one(client: Client, community: Community) -> None:
    """And where they are many."""
    shown = [html(client, "/account/communities/", **query) for query in ({}, {"q": "harb"}, {"q": "nothing"})]
    assert ['name="q"' in each for each in shown] == [False, True, True]
    assert [community.name in each for each in shown] == [True, True, False]


def test_only_moderators_decide(community: Community, unchanged: Unchanged) -> None:
    post = unchanged(MessageFactory(community=community))
    unchanged(community)
    stranger = signed_in(PersonFactory())
    for page, sent in (
        ("decide/", {"decision": "hide", "posts": str(post.pk)}),
        ("rules/", {"read_only": "on"}),
        ("people/", {"action": "add", "handle": PersonFactory().handle}),
    ):
        assert stranger.post(path(community, page), sent).status_code == 404
    hidden = unchanged(MessageFactory(community=community, status="hidden"))
    for service in (moderators.undo_hiding, moderators.dismiss):
        with pytest.raises(ModeratorRequired):
            service(message_id=hidden.pk, by=PersonFactory())


def test_the_list_has_the_numbers_of_posts_that_wait(client: Client, community: Community) -> None:
    MessageFactory(community=community, status=PENDING)
    reported(community)
    CommunityFactory(name="Of others")
    page = html(client, "/account/communities/")
    assert "1 pending" in page
    assert "1 reported" in page
    assert "Of others" not in page


def test_a_community_is_created_once_where_that_is_open(client: Client, settings: Any) -> None:
    page = html(client, "/account/communities/new/")
    key = re.search(r'name="submission" value="([^"]+)"', page)
    assert key
    sent = {"name": "Harbour Gazette", "slug": "", "submission": key[1]}
    for _ in range(2):
        response = client.post("/account/communities/new/", sent)
        assert response["Location"] == "/account/communities/harbour-gazette/moderation/"
    assert Community.objects.count() == 1
    sent |= {"slug": "harbour-gazette", "submission": "0199f000-0000-7000-8000-000000000000"}
    refused = client.post("/account/communities/new/", sent).content.decode()
    assert "A community has this name in addresses already" in refused
    settings.COMMUNITY_CREATION = "closed"
    assert "<input" not in html(client, "/account/communities/new/").split("<main")[1]


def test_the_list_begins_with_what_waits(client: Client, community: Community) -> None:
    assert "Nothing waits for approval" in html(client, path(community))
    reported(community, content="Reported text")
    assert "Reported text" in html(client, path(community))
    assert "Nothing waits for approval" in html(client, path(community), state="pending")
    MessageFactory(community=community, status="pending", content="Pending text")
    page = html(client, path(community))
    assert ("Pending text" in page, "Reported text" in page) == (True, False)


def test_a_card_has_the_text_its_context_and_its_reports(client: Client, community: Community) -> None:
    parent = MessageFactory(community=community, content="What the *parent* says")
    reported(community, parent=parent, content="**Bold** <script>alert(1)</script>")
    page = html(client, path(community), state="reported")
    assert "<strong>Bold</strong> &lt;script&gt;" in page
    assert "What the parent says" in page
    assert "&lt;b&gt;Again&lt;/b&gt;" in page
    assert "Posts by them in this community: 1 published, 0 pending, 0 hidden" in page


def test_a_long_text_is_cut_in_the_list_and_whole_on_its_page(client: Client, community: Community) -> None:
    post = MessageFactory(community=community, status=PENDING, content="long " * 4000)
    page = html(client, path(community))
    assert page.count("long") < 1000
    assert html(client, path(community, f"posts/{post.pk}/")).count("long ") >= 3999
    other = MessageFactory()
    assert client.get(path(community, f"posts/{other.pk}/")).status_code == 404


@pytest.mark.parametrize(
    ("decision", "before", "after", "says"),
    [
        ("approve", "pending", "published", "2 posts approved"),
        ("hide", "published", "hidden", "2 posts hidden"),
        ("restore", "hidden", "published", "2 posts restored"),
    ],
)
def test_several_posts_are_decided_at_once_and_no_other(
    decision: str, before: str, after: str, says: str, client: Client, community: Community, unchanged: Unchanged
) -> None:
    posts = [MessageFactory(community=community, status=before) for _ in range(2)]
    elsewhere = unchanged(MessageFactory(community=CommunityFactory(), status=before))
    unchanged(MessageFactory(community=community, status=before))
    assert "Nothing was chosen" in decide(client, community, decision, elsewhere, reason="Because.")
    assert says in decide(client, community, decision, *posts, elsewhere, reason="Because.")
    assert {Message.objects.get(pk=post.pk).status for post in posts} == {after}
    assert set(Decision.objects.exclude(act="created").values_list("reason", flat=True)) == {"Because."}


def test_one_button_restores_what_was_hidden_and_publishes_no_post_that_waited(
    client: Client, community: Community, unchanged: Unchanged
) -> None:
    waiting, complained = MessageFactory(community=community, status=PENDING), reported(community)
    unchanged(MessageFactory(community=community, status=HIDDEN))
    page = decide(client, community, "hide", waiting, complained, back=f"{path(community)}?state=recent")
    assert "Undo" in page
    assert not open_reports().exists()
    press_undo(client, community, page)
    assert [Message.objects.get(pk=post.pk).status for post in (waiting, complained)] == ["pending", "published"]
    assert open_reports().count() == 1


def press_undo(client: Client, community: Community, page: str) -> str:
    form = page.partition('class="undo"')[2].partition("</form>")[0]
    sent: dict[str, list[str]] = {}
    for name, value in re.findall(r'name="([^"]+)" value="([^"]*)"', form):
        sent.setdefault(name, []).append(unescape(value))
    response = client.post(path(community, "decide/"), sent, follow=True)
    assert response.status_code == 200
    return str(response.content.decode())


def test_undo_leaves_a_post_that_another_moderator_has_hidden_again(client: Client, community: Community) -> None:
    posts = MessageFactory.create_batch(2, community=community)
    page = decide(client, community, "hide", *posts)
    other = SuperAdminFactory()
    restore_message(message_id=posts[0].pk, by=other)
    hide_message(message_id=posts[0].pk, by=other, reason="For another reason.")
    answer = press_undo(client, community, page)
    assert "1 post restored." in answer
    assert "Another moderator has decided meanwhile" in answer
    assert [Message.objects.get(pk=post.pk).status for post in posts] == ["hidden", "published"]


# A page that an earlier release has served sends `approve`.
@pytest.mark.parametrize(("decision", "says"), [("dismiss", "Reports of 1 post dismissed."), ("approve", "1 post")])
def test_dismissing_the_reports_of_a_post_closes_them_once(
    decision: str, says: str, client: Client, community: Community, unchanged: Unchanged
) -> None:
    post = reported(community)
    page = html(client, path(community), state="reported")
    assert page.count('name="decision" value="dismiss">Dismiss report</button>') == 1
    assert page.count('name="decision" value="dismiss">Dismiss reports</button>') == 1
    unchanged(reported(CommunityFactory()).reports.get())
    assert says in decide(client, community, decision, post)
    assert not post.reports.filter(closed_at=None).exists()
    assert "No post has open reports" in html(client, path(community), state="reported")
    assert "Another moderator has decided meanwhile" in decide(client, community, decision, post)


def test_a_dismissal_publishes_nothing_and_names_the_text_that_was_read(client: Client, community: Community) -> None:
    post = reported(community, updated_at=LONG_AGO)
    report_message(message_id=post.pk, by=PersonFactory(), reason="abuse", note="", transaction=None)  # type: ignore[arg-type]
    page = html(client, path(community), state="reported")
    assert page.count(">Dismiss reports</button>") == 2
    edit(post, "What nobody read")
    assert "The author edited this post after you read it." in send(client, community, "dismiss", fields_of(page, CARD))
    assert open_reports().count() == 2
    Message.objects.filter(pk=post.pk).update(status=PENDING)
    assert "Reports of 1 post dismissed." in decide(client, community, "dismiss", post)
    assert not open_reports().exists()
    assert Message.objects.get(pk=post.pk).status == PENDING
    assert "Another moderator has decided meanwhile" in decide(client, community, "dismiss", post)


def test_the_page_after_a_decision_is_of_the_community(client: Client, community: Community) -> None:
    post = MessageFactory(community=community, status=PENDING)
    for back in ("https://evil.example/", "//evil.example/", "/admin/", "\\\\evil.example", "http://["):
        sent = {"decision": "approve", "posts": str(post.pk), "back": back}
        assert client.post(path(community, "decide/"), sent)["Location"] == path(community), back


def test_the_page_after_a_decision_is_the_list_that_the_form_was_on(client: Client, community: Community) -> None:
    post = MessageFactory(community=community, status=PENDING)
    sent = {"decision": "approve", "posts": str(post.pk), "back": f"{path(community)}?state=hidden&other=1"}
    assert client.post(path(community, "decide/"), sent)["Location"] == f"{path(community)}?state=hidden"


def test_a_reason_may_have_500_characters(client: Client, community: Community) -> None:
    post = MessageFactory(community=community)
    decide(client, community, "hide", post, reason="x" * 500)
    assert Decision.objects.get(act="hidden").reason == "x" * 500


def test_a_form_that_no_page_has_and_the_cursor_of_another_list_are_refused(
    client: Client, community: Community
) -> None:
    for sent in ({}, {"decision": "delete"}, {"decision": "hide", "reason": "x" * 501}, {"decision": "a\x00"}):
        assert client.post(path(community, "decide/"), sent).status_code == 400, sent
    for cursor in ("x", "%F0%9F%98%80", "A" * 5000):
        assert client.get(f"{path(community)}?cursor={cursor}").status_code == 400, cursor


def test_the_list_goes_on(client: Client, community: Community) -> None:
    posts = [MessageFactory(community=community, status=PENDING) for _ in range(12)]
    first = html(client, path(community))
    more = re.search(r"cursor=([\w-]+)", first)
    assert more
    second = html(client, path(community), state="pending", cursor=more[1])
    shown = [str(post.pk) for post in posts if f'id="post-{post.pk}"' in first + second]
    assert len(shown) == 12


def test_an_author_is_banned_from_the_card(client: Client, community: Community) -> None:
    post = MessageFactory(community=community)
    assert "The author is banned" in decide(client, community, "ban", post, reason="Spam.")
    assert Ban.objects.get().account == post.author
    assert "Ban the author" not in html(client, path(community), state="recent")


def test_nobody_can_be_banned_from_the_card_of_an_erased_author(client: Client, community: Community) -> None:
    heir = Account.objects.get(pk=heirs()["human"])
    MessageFactory.create_batch(2, community=community, author=heir)
    page = html(client, path(community), state="recent")
    assert page.count("Deleted") >= 2
    assert "Ban the author" not in page
    assert "published, " not in page


def test_moderators_and_bans_are_added_and_removed(client: Client, community: Community, unchanged: Unchanged) -> None:
    helper, troll = PersonFactory(), AgentAccountFactory()
    unchanged(Moderator.objects.create(community=community, account=PersonFactory()))
    unchanged(Ban.objects.create(community=community, account=PersonFactory()))
    unchanged(Ban.objects.create(community=CommunityFactory(), account=troll))
    people = path(community, "people/")
    assert client.post(people, {"action": "add", "handle": f"@{helper.handle.upper()}"}).status_code == 302
    assert client.post(people, {"action": "ban", "handle": troll.handle, "reason": "Floods."}).status_code == 302
    page = html(client, people)
    assert helper.name in page
    assert "Floods." in page
    for action, account in (("remove", helper), ("lift", troll)):
        assert client.post(people, {"action": action, "account": str(account.pk)}).status_code == 302
    assert (community.moderators.count(), community.bans.count()) == (2, 1)
    for action, says in (("add", "No person has this handle"), ("ban", "Nobody has this handle")):
        sent = {"action": action, "handle": "nobody_here", "reason": "x"}
        assert says in client.post(people, sent).content.decode()


def test_older_bans_are_on_further_pages_and_can_be_lifted(client: Client, community: Community) -> None:
    oldest = PersonFactory(name="The Oldest")
    accounts = [oldest, *PersonFactory.create_batch(50)]
    Ban.objects.bulk_create([Ban(community=community, account=account) for account in accounts])
    people = path(community, "people/")
    first = html(client, people)
    (older,) = re.findall(r'href="(\?before=\d+)"', first)
    assert "The Oldest" not in first
    second = html(client, people + older)
    assert "The Oldest" in second
    assert (accounts[1].handle in first, accounts[1].handle in second) == (True, False)
    assert "?before=" not in second
    assert client.post(people + older, {"action": "lift", "account": str(oldest.pk)}).status_code == 302
    assert community.bans.count() == 50


def test_the_last_moderator_does_not_leave(client: Client, community: Community, person: Account) -> None:
    sent = {"action": "remove", "account": str(person.pk)}
    assert "You are the last moderator" in client.post(path(community, "people/"), sent, follow=True).content.decode()


def rules_form(client: Client, community: Community) -> dict[str, Any]:
    opened = re.search(r'name="opened" value="([^"]*)"', html(client, path(community, "rules/")))
    assert opened
    return {"agents_may_post": "on", "people_may_post": "on", "pre_moderation": "off", "opened": opened[1]}


def test_rules_and_words_are_saved_and_logged(client: Client, community: Community) -> None:
    sent = rules_form(client, community) | {"pre_moderation": "agents", "blocked_words": "casino*\nbuy now"}
    assert client.post(path(community, "rules/"), sent | {"reason": "Spam."}).status_code == 302
    community.refresh_from_db()
    assert (community.pre_moderation, community.blocked_words) == ("agents", ["casino*", "buy now"])
    decision = Decision.objects.filter(act="changed").get()
    assert (set(decision.columns), decision.reason) == ({"pre_moderation", "blocked_words"}, "Spam.")
    assert "Changed the rules" in html(client, path(community, "log/"))


def test_the_days_until_a_discussion_closes_are_saved(client: Client, community: Community) -> None:
    sent = rules_form(client, community)
    assert "Days until a discussion closes" in html(client, path(community, "rules/"))
    for days, status, stored in (("30", 302, 30), ("-1", 200, 30), ("3651", 200, 30), ("x", 200, 30), ("", 302, 0)):
        sent = rules_form(client, community)
        assert client.post(path(community, "rules/"), sent | {"close_after_days": days}).status_code == status, days
        community.refresh_from_db()
        assert community.close_after_days == stored
    assert Decision.objects.filter(columns=["close_after_days"]).count() == 2


def test_the_log_has_closings_with_their_page_and_pins(client: Client, community: Community, person: Account) -> None:
    post = MessageFactory(community=community, content="The rules")
    close_discussion(community_id=community.pk, page_id=post.page_id, by=person, reason="Done.")
    reopen_discussion(community_id=community.pk, page_id=post.page_id, by=person)
    pin_message(message_id=post.pk, by=person)
    unpin_message(message_id=post.pk, by=person)
    text = html(client, path(community, "log/"))
    for expected in ("Closed a discussion", "Reopened a discussion", "Pinned a post", "Unpinned a post", "Done."):
        assert expected in text
    assert text.count(post.page.normalized_url.removeprefix("https://")) == 2
    # The page may be pruned.
    post.delete()
    Page.objects.all().delete()
    assert html(client, path(community, "log/")).count("Closed a discussion") == 1


def test_the_log_has_the_text_of_a_post_of_others_while_it_is_public(
    client: Client, community: Community, person: Account
) -> None:
    own = MessageFactory(community=community, content="Of our own")
    foreign = MessageFactory(community=CommunityFactory(), content="Of elsewhere")
    pin_message(message_id=own.pk, by=person)
    hide_here(community_id=community.pk, message_id=foreign.pk, by=person, reason="An advertisement.")
    own_link, permalink = f'href="{path(community, f"posts/{own.pk}/")}"', f'href="/p/{foreign.pk}"'
    text = html(client, path(community, "log/"))
    for expected in (own_link, "Of our own", permalink, "Of elsewhere", "An advertisement."):
        assert expected in text
    assert client.get(f"/p/{foreign.pk}").status_code == 200
    for post in (own, foreign):
        hide_message(message_id=post.pk, by=SuperAdminFactory())
    text = html(client, path(community, "log/"))
    assert "Of our own" in text
    assert "An advertisement." in text
    assert permalink not in text
    assert "Of elsewhere" not in text


def test_a_change_by_another_moderator_is_not_overwritten(client: Client, community: Community) -> None:
    sent = rules_form(client, community) | {"pre_moderation": "agents"}
    Community.objects.filter(pk=community.pk).update(pre_moderation="everyone")
    response = client.post(path(community, "rules/"), sent)
    assert response.status_code == 200
    assert "changed by another user" in response.content.decode()
    community.refresh_from_db()
    assert community.pre_moderation == "everyone"


def test_an_entry_of_blocked_words_is_refused_in_the_language_of_the_person(
    client: Client, community: Community
) -> None:
    for word, text in (("!!!", "braucht einen Buchstaben"), ("#####a", "höchstens vier Zeichen"), ("*", "errorlist")):
        sent = rules_form(client, community) | {"blocked_words": f"casino*\n{word}"}
        response = client.post(path(community, "rules/"), sent, headers={"Accept-Language": "de"})
        assert text in response.content.decode()
    community.refresh_from_db()
    assert community.blocked_words == []


def test_blocked_words_can_be_tried(client: Client, community: Community) -> None:
    Community.objects.filter(pk=community.pk).update(blocked_words=["casino*"])
    sent = {"try": "1", "text": "<i>The casinos"}
    page = client.post(path(community, "rules/"), sent).content.decode()
    assert "<mark>casino</mark>s" in page
    assert "&lt;i&gt;The" in page
    assert "is accepted" in client.post(path(community, "rules/"), {"try": "1", "text": "A boat"}).content.decode()


def test_a_page_has_a_fixed_number_of_queries(
    client: Client, community: Community, django_assert_max_num_queries: Any
) -> None:
    for status in ("pending", "published", "hidden"):
        for _ in range(3):
            parent = MessageFactory(community=community)
            post = MessageFactory(community=community, parent=parent, status=status)
            Decision.objects.create(community=community, act="hidden", message=post, account=post.author)
            Ban.objects.create(community=community, account=post.author)
            Moderator.objects.create(community=community, account=PersonFactory())
        reported(community)
    for page in ("?state=pending", "?state=reported", "?state=recent", "?state=hidden", *PAGES[1:]):
        with django_assert_max_num_queries(16):
            body = html(client, path(community) + page)
        assert len(body.encode()) < 100_000, page


def fields_of(page: str, form: str) -> list[tuple[str, str]]:
    """The hidden fields and checkboxes that a form of a page sends: those inside it, and those that name it."""
    inside = re.search(rf"<form [^>]*{form}[^>]*>(.*?)</form>", page, re.DOTALL)
    assert inside, form
    named = re.search(r'id="(\w+)"', form)
    inputs = re.findall(r"<input [^>]+>", inside[1])
    inputs += re.findall(rf'<input [^>]*form="{named[1]}"[^>]*>', page) if named else []
    found = [(re.search(r'name="([^"]+)"', one), re.search(r'value="([^"]+)"', one)) for one in inputs]
    return [(name[1], unescape(value[1])) for name, value in found if name and value]


def send(client: Client, community: Community, decision: str, fields: list[tuple[str, str]]) -> str:
    body = urlencode([*fields, ("decision", decision)])
    form = "application/x-www-form-urlencoded"
    response = client.post(path(community, "decide/"), body, content_type=form, follow=True)
    assert response.status_code == 200
    return str(response.content.decode())


def edit(post: Message, content: str) -> None:
    assert Api.as_person(post.author).put(f"/api/messages/{post.pk}", {"content": content}).status == 200


@pytest.mark.parametrize("form", [CARD, SEVERAL])
@pytest.mark.parametrize("tab", ["pending", "reported"])
def test_a_text_that_came_after_the_page_is_not_approved(
    client: Client, community: Community, tab: str, form: str
) -> None:
    post = reported(community, status=PUBLISHED, content="What was read")
    Message.objects.filter(pk=post.pk).update(status=PENDING, updated_at=LONG_AGO)
    fields = fields_of(html(client, path(community), state=tab), form)
    edit(post, "What nobody read")
    page = send(client, community, "approve", [*fields, ("back", path(community))])
    assert "The author edited this post after you read it. Read it again." in page
    assert "What nobody read" in page
    assert Message.objects.get(pk=post.pk).status == PENDING
    assert open_reports().exists()
    page = send(client, community, "approve", fields_of(page, form))
    assert "1 post approved." in page
    assert Message.objects.get(pk=post.pk).status == "published"


def test_of_several_posts_only_the_edited_one_is_refused_but_it_can_be_hidden(
    client: Client, community: Community
) -> None:
    posts = [MessageFactory(community=community, status=PENDING, updated_at=LONG_AGO) for _ in range(3)]
    fields = fields_of(html(client, path(community)), SEVERAL)
    edit(posts[1], "What nobody read")
    page = send(client, community, "approve", fields)
    assert "2 posts approved." in page
    assert "The author edited this post after you read it." in page
    assert [Message.objects.get(pk=post.pk).status for post in posts] == ["published", PENDING, "published"]
    fields = fields_of(html(client, path(community)), CARD)
    edit(posts[1], "Worse")
    assert "1 post hidden." in send(client, community, "hide", fields)


@pytest.mark.parametrize("time", ["", "now", "2026-05-01T12:00:00"])
def test_a_form_without_a_time_decides_on_the_current_text(client: Client, community: Community, time: str) -> None:
    """An earlier release sends none."""
    post = MessageFactory(community=community, status=PENDING)
    edit(post, "Edited")
    assert "1 post approved." in decide(client, community, "approve", post, **{f"seen-{post.pk}": time})


def hide_all(person: Account, *posts: Any) -> None:
    for post in posts:
        moderators.hide(message_id=post.pk, by=person)


def listed(client: Client, community: Community) -> list[str]:
    """The texts of all pages, followed by their links."""
    address, texts = f"/account/communities/{community.slug}/moderation/?state=hidden", []
    while address:
        page = client.get(address).content.decode()
        texts += re.findall(r"Number \d+", page)
        link = re.search(r'href="(\?state=hidden&amp;cursor=[^"]+)"', page)
        address = address.partition("?")[0] + unescape(link[1]) if link else ""
    return texts


def test_all_hidden_posts_are_listed_once_the_last_hidden_first(
    client: Client, community: Community, person: Account
) -> None:
    posts = [MessageFactory(community=community, content=f"Number {number}") for number in range(NUMBER)]
    hide_all(person, *reversed(posts))
    assert listed(client, community) == [f"Number {number}" for number in range(NUMBER)]
    # Hidden a second time.
    moderators.undo_hiding(message_id=posts[-1].pk, by=person)
    hide_all(person, posts[-1])
    assert listed(client, community) == [f"Number {number}" for number in (NUMBER - 1, *range(NUMBER - 1))]


def test_posts_that_are_not_hidden_any_more_and_those_of_others_are_not_listed(
    client: Client, community: Community, person: Account
) -> None:
    restored = MessageFactory(community=community, content="Number 1")
    hide_all(person, restored)
    moderators.undo_hiding(message_id=restored.pk, by=person)
    other = create_community(owner=person, name="Other")
    hide_all(person, MessageFactory(community=other, content="Number 2"))
    assert listed(client, other) == ["Number 2"]
    assert listed(client, community) == []


def test_a_cursor_of_another_list_is_refused(client: Client, community: Community, person: Account) -> None:
    posts = [MessageFactory(community=community) for _ in range(POSTS_OF_PAGE + 1)]
    address = f"/account/communities/{community.slug}/moderation/"
    recent = client.get(address, {"state": "recent"}).content.decode()
    cursor = re.search(r"cursor=([^\"]+)\"", recent)
    assert cursor
    hide_all(person, *posts)
    assert client.get(address, {"state": "recent", "cursor": cursor[1]}).status_code == 200
    assert client.get(address, {"state": "hidden", "cursor": cursor[1]}).status_code == 400
