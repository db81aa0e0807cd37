"""The tab Posts of a site, its cards, what waits elsewhere in the account area, and all posts of an author."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import pytest
from django.test import Client
from django.utils.formats import date_format

from account_area.moderation.cards import REPORTS_MAX
from account_area.moderation.queries import POSTS_OF_PAGE
from embeds.models import Embed
from embeds.services import delete_embed
from messaging.communities.services import create_community
from messaging.models import Account, BulkJob, ClosedPage, Community, Decision, Message, MessageStatus, Moderator, Pin
from messaging.moderation import moderators
from messaging.moderation.reporting import report_message
from messaging.moderation.services import approve_message, return_to_review
from tests.account_area.test_moderation import decide, html, path, reported, signed_in
from tests.admin.bystanders import Unchanged
from tests.embeds.making import an_embed
from tests.factories import AgentAccountFactory, CommunityFactory, MessageFactory, PersonFactory, SuperAdminFactory

pytestmark = pytest.mark.django_db
PENDING, PUBLISHED, HIDDEN = MessageStatus.PENDING, MessageStatus.PUBLISHED, MessageStatus.HIDDEN
HOME, INBOX, SITES = "/account/", "/account/inbox/", "/account/sites/"
# The number at a tab; that of unread events has another title.
WAITING = 'class="count" title="waiting for your decision'


@pytest.fixture
def community(person: Account) -> Community:
    return create_community(owner=person, name="Harbour")


@pytest.fixture
def site(person: Account, community: Community) -> Embed:
    return an_embed(person, community_id=community.pk, name="Gazette")


def posts_path(site: Embed) -> str:
    return f"{SITES}{site.pk}/posts/"


def ids_of(page: str) -> list[str]:
    return re.findall(r'id="post-([^"]+)"', page)


def numbers_of(page: str) -> dict[str, str]:
    """The number of each state that has one."""
    choices = page.partition('<nav class="choices"')[2].partition("</nav>")[0]
    return dict(re.findall(r"state=(\w+)[^<]*<b>([^<]+)</b>", choices.replace("</a>", "\n")))


def complain(post: Message, *, times: int = 1, note: str = "") -> None:
    for _ in range(times):
        report_message(message_id=post.pk, by=PersonFactory(), reason="spam", note=note, transaction=None)  # type: ignore[arg-type]


def test_the_tab_has_the_posts_of_the_community_in_each_state(
    client: Client, site: Embed, community: Community, person: Account
) -> None:
    waiting = MessageFactory.create_batch(2, community=community, status=PENDING)
    complained, hidden, public = (
        reported(community),
        MessageFactory(community=community),
        MessageFactory(community=community),
    )
    moderators.hide(message_id=hidden.pk, by=person)
    MessageFactory(community=CommunityFactory(), status=PENDING)
    reported(CommunityFactory())
    expected = {"pending": waiting, "reported": [complained], "recent": [public, complained], "hidden": [hidden]}
    for state, posts in expected.items():
        page = html(client, posts_path(site), state=state)
        assert ids_of(page) == [str(post.pk) for post in posts], state
        assert numbers_of(page) == {"pending": "2", "reported": "1", "recent": "2", "hidden": "1"}
    assert ids_of(html(client, posts_path(site))) == [str(post.pk) for post in waiting]


def test_a_site_with_no_post_says_so_in_each_state(client: Client, site: Embed) -> None:
    for state, says in (("pending", "Nothing waits"), ("recent", "Nobody has posted"), ("hidden", "can be restored")):
        page = html(client, posts_path(site), state=state)
        assert says in page
        assert numbers_of(page) == {}
        assert 'class="several"' not in page


def test_a_number_ends_at_99(client: Client, site: Embed, community: Community) -> None:
    author = PersonFactory()
    MessageFactory.create_batch(100, community=community, status=PENDING, author=author)
    page = html(client, posts_path(site))
    assert numbers_of(page) == {"pending": "99+"}
    assert '<span class="count" title="waiting for your decision">99+<' in page
    assert "99+ pending" in html(client, SITES)


def test_what_others_own_and_an_unknown_state_do_not_exist(client: Client, site: Embed, person: Account) -> None:
    other = an_embed(PersonFactory())
    Moderator.objects.create(community=other.community, account=person)
    deleted = an_embed(person)
    delete_embed(embed_id=deleted.pk, owner=person)
    for address in (posts_path(other), posts_path(deleted), f"{posts_path(site)}?state=deleted"):
        assert client.get(address).status_code == 404, address
    assert client.post(posts_path(site)).status_code == 405
    assert Client().get(posts_path(site)).status_code == 302
    for cursor in ("x", "A" * 5000):
        assert client.get(f"{posts_path(site)}?cursor={cursor}").status_code == 400


def test_an_owner_who_does_not_moderate_reads_public_posts_and_decides_nothing(
    client: Client, person: Account, unchanged: Unchanged
) -> None:
    community = CommunityFactory()
    site = an_embed(person, community_id=community.pk)
    posts = [reported(community, content="Reported text") for _ in range(POSTS_OF_PAGE + 1)]
    for status in (PENDING, HIDDEN):
        MessageFactory(community=community, author=posts[0].author, status=status, content="Not public")
    unchanged(*posts)
    shown = []
    for state in ("pending", "hidden"):
        page = html(client, posts_path(site), state=state)
        assert "You do not moderate this community" in page
        assert "Not public" not in page
        assert not re.search("Again|Spam|published,|More</summary>|data-all|moderation/", page)
        shown.append(ids_of(page))
    more = re.search(r'href="\?cursor=([^"]+)"', page)
    assert more
    second = html(client, posts_path(site), cursor=more[1])
    assert [*shown[0], *ids_of(second)] == [str(post.pk) for post in reversed(posts)]
    assert 'class="count"' not in page
    assert client.post(path(community, "decide/"), {"decision": "hide", "posts": str(posts[0].pk)}).status_code == 404


def test_the_tab_says_that_a_community_has_several_sites(
    client: Client, person: Account, site: Embed, community: Community
) -> None:
    an_embed(person)
    assert "from all of its sites" not in html(client, posts_path(site))
    an_embed(SuperAdminFactory(), community_id=community.pk)
    assert "from all of its sites" in html(client, posts_path(site))


def test_a_decision_in_the_tab_returns_to_it(client: Client, site: Embed, community: Community) -> None:
    posts = [MessageFactory(community=community, status=PENDING) for _ in range(2)]
    back = f"{posts_path(site)}?state=pending&job=1"
    page = decide(client, community, "approve", posts[0], back=back)
    assert "1 post approved." in page
    assert ids_of(page) == [str(posts[1].pk)]
    assert 'aria-current="page">Posts' in page
    assert "Another moderator has decided meanwhile" in decide(client, community, "approve", posts[0], back=back)
    sent = {"decision": "hide", "posts": str(posts[1].pk), "back": back}
    assert client.post(path(community, "decide/"), sent)["Location"].startswith(
        f"{posts_path(site)}?state=pending&hid="
    )


def test_the_tab_of_a_site_has_the_number_that_waits_for_who_decides(
    client: Client, site: Embed, community: Community, person: Account
) -> None:
    settings = f"{SITES}{site.pk}/settings/"
    assert WAITING not in html(client, settings)
    MessageFactory(community=community, status=PENDING)
    reported(community)
    assert f'{WAITING}">2<span class="hidden-text">' in html(client, settings)
    for shown in (html(client, SITES), html(client, "/account/communities/")):
        assert "1 pending" in shown
        assert "1 reported" in shown
    Moderator.objects.filter(account=person).delete()
    assert WAITING not in html(client, settings)
    assert "1 pending" not in html(client, SITES)


@pytest.mark.parametrize("page", [HOME, INBOX])
def test_what_waits_is_on_the_first_page_and_in_the_inbox(
    client: Client, site: Embed, community: Community, page: str
) -> None:
    assert "Waiting for your decision" not in html(client, page)
    reported(community)
    for place in (CommunityFactory(), None):
        MessageFactory(community=place, status=PENDING)
    shown = html(client, page)
    assert "Waiting for your decision" in shown
    assert f'href="{posts_path(site)}?state=reported">1 reported' in shown
    assert "1 pending" not in shown
    assert "Nothing has happened" not in shown
    stranger = html(signed_in(PersonFactory()), page)
    assert "Waiting for your decision" not in stranger
    assert ("Nothing has happened" in stranger) == (page == INBOX)


def test_a_community_without_a_site_of_the_person_is_decided_on_its_own_page(
    client: Client, community: Community, person: Account, django_assert_max_num_queries: Any
) -> None:
    an_embed(SuperAdminFactory(), community_id=community.pk)
    MessageFactory(community=community, status=PENDING)
    assert f'href="{path(community)}?state=pending">1 pending' in html(client, HOME)
    for number in range(25):
        place = create_community(owner=SuperAdminFactory(), name=f"Place {number}")
        Moderator.objects.create(community=place, account=person)
        MessageFactory(community=place, status=PENDING)
    with django_assert_max_num_queries(10):
        assert html(client, HOME).count("?state=pending") == 20


def test_a_card_says_when_a_post_was_written_where_and_what_it_answers_and_quotes(
    client: Client, site: Embed, community: Community, person: Account
) -> None:
    parent = MessageFactory(community=community, content="What the *parent* says", author__name="Ada Byron")
    quoted = MessageFactory(community=community, content="What is quoted", author__name="Grace Hopper")
    post = MessageFactory(community=community, parent=parent, page=parent.page, quote=quoted)
    complain(post, note="<b>Again</b>")
    moderators.hide(message_id=parent.pk, by=person)
    page = html(client, posts_path(site), state="reported")
    for text in ("In reply to Ada Byron:", "What the parent says", "Quotes Grace Hopper:", "What is quoted"):
        assert text in page
    assert "&lt;b&gt;Again&lt;/b&gt;" in page
    assert date_format(post.created_at, "DATE_FORMAT") in page
    assert f'href="{unescape(post.page.normalized_url)}#community-post-{post.pk}"' in unescape(page)
    assert f'href="{path(community, f"posts/{parent.pk}/")}"' in page


def test_a_card_has_no_text_that_another_community_has_hidden(
    client: Client, site: Embed, community: Community
) -> None:
    elsewhere = CommunityFactory()
    for status in (HIDDEN, PENDING, PUBLISHED):
        quoted = MessageFactory(community=elsewhere, content=f"Elsewhere {status.value}", status=status)
        MessageFactory(community=community, quote=quoted, status=PENDING)
    page = html(client, posts_path(site))
    assert re.findall(r"Elsewhere (\w+)", page) == ["published"]
    assert page.count("Quotes a post:") == 2
    assert "Show it" not in page


def test_a_card_names_no_author_of_a_deleted_parent(client: Client, site: Embed, community: Community) -> None:
    parent = MessageFactory(community=community, status="deleted", content="", author__name="Ada Byron")
    MessageFactory(community=community, parent=parent, page=parent.page, status=PENDING)
    page = html(client, posts_path(site))
    assert "In reply to:" in page
    assert "Ada Byron" not in page


def test_a_card_has_the_first_reports_and_names_no_reporter(client: Client, site: Embed, community: Community) -> None:
    post = MessageFactory(community=community)
    complain(post, times=REPORTS_MAX + 2, note="Again")
    page = html(client, posts_path(site), state="reported")
    assert page.count("“Again”") == REPORTS_MAX
    assert "2 more reports" in page
    assert html(client, path(community, f"posts/{post.pk}/")).count("“Again”") == REPORTS_MAX + 2
    for name, handle in Account.objects.filter(reports__message=post).values_list("name", "handle"):
        assert name not in page
        assert handle not in page


def test_a_card_says_why_a_post_waits(client: Client, site: Embed, community: Community, person: Account) -> None:
    def says(**fields: Any) -> str:
        post = MessageFactory(community=community, status=PENDING, **fields)
        return reason(post)

    def reason(post: Message) -> str:
        page = html(client, path(community, f"posts/{post.pk}/"))
        found = re.search(r'class="held">([^<]+)<', page)
        return unescape(found[1]) if found else ""

    def rule(value: str) -> None:
        Community.objects.filter(pk=community.pk).update(pre_moderation=value)

    assert says().startswith("It had to wait")
    rule("agents")
    assert says(author=AgentAccountFactory()) == "By the rules of this community, posts of agents wait for approval."
    rule("everyone")
    assert says() == "By the rules of this community, all posts wait for approval."
    assert says(held_after_edit=True).startswith("Its author edited it")
    Community.objects.filter(pk=community.pk).update(reports_to_hide=1)
    post = MessageFactory(community=community)
    complain(post)
    assert reason(post) == "Readers reported it, so it waits."
    approve_message(message_id=post.pk, by=person)
    assert reason(post) == ""
    return_to_review(message_id=post.pk, by=person)
    Message.objects.filter(pk=post.pk, held_after_reports=True).get()
    assert reason(post) in {"Readers reported it, so it waits.", says_returned()}


def says_returned() -> str:
    return "It was public. A moderator returned it to review, or reports did that are closed now."


def hide_author(client: Client, community: Community, author: Any, **sent: str) -> str:
    body = {"author": str(author), "reason": "Spam.", **sent}
    response = client.post(path(community, "hide-author/"), body, follow=True)
    assert response.status_code == 200
    return str(response.content.decode())


def press_undo(client: Client, page: str) -> str:
    forms = re.findall(r'<form method="post" action="([^"]+)" class="undo">(.*?)</form>', page)
    ((action, inside),) = [(action, inside) for action, inside in forms if "hide-author" in action]
    back = re.search(r'name="back" value="([^"]*)"', inside)
    assert back
    return str(client.post(action, {"back": unescape(back[1])}, follow=True).content.decode())


def test_all_posts_of_an_author_are_hidden_from_a_card_and_restored(
    client: Client, site: Embed, community: Community, unchanged: Unchanged
) -> None:
    first = MessageFactory(community=community, status=PENDING)
    others = MessageFactory.create_batch(2, community=community, author=first.author)
    unchanged(
        MessageFactory(community=CommunityFactory(), author=first.author),
        MessageFactory(community=community, status=PENDING),
    )
    page = html(client, posts_path(site))
    assert page.count("Hide all of this author") == 2
    assert page.count(f'name="author" value="{first.author_id}"') == 1
    page = hide_author(client, community, first.author_id, back=f"{posts_path(site)}?state=pending")
    assert "3 posts of this author hidden." in page
    assert numbers_of(page)["hidden"] == "3"
    hidden = html(client, posts_path(site), state="hidden")
    assert ids_of(hidden)[:1] == [str(others[1].pk)]
    assert "Spam." in hidden
    log = html(client, path(community, "log/"))
    assert "Hid all posts of an author" in log
    page = press_undo(client, page)
    assert "3 posts restored." in page
    assert [Message.objects.get(pk=post.pk).status for post in (first, *others)] == [
        "pending",
        "published",
        "published",
    ]
    assert "Restored all posts of an author" in html(client, path(community, "log/"))
    assert 'class="rows hidings"' not in html(client, posts_path(site), state="hidden")


def test_a_repeated_press_and_a_repeated_undo_say_so(client: Client, community: Community) -> None:
    post = MessageFactory(community=community)
    page = hide_author(client, community, post.author_id)
    assert "Another moderator has decided meanwhile" in hide_author(client, community, post.author_id)
    action = f"hide-author/{BulkJob.objects.get().pk}/undo/"
    press_undo(client, page)
    again = client.post(path(community, action), follow=True).content.decode()
    assert "This was undone already" in again
    assert Decision.objects.filter(act="restored").count() == 1


def test_the_undo_says_what_was_decided_on_since(client: Client, community: Community, person: Account) -> None:
    posts = MessageFactory.create_batch(2, community=community, author=PersonFactory())
    page = hide_author(client, community, posts[0].author_id)
    moderators.restore(message_id=posts[0].pk, by=person)
    page = press_undo(client, page)
    assert "1 post restored. 1 was decided on since, and stays." in page


def test_the_posts_of_an_author_are_hidden_by_moderators_with_a_reason(
    client: Client, community: Community, unchanged: Unchanged
) -> None:
    post = unchanged(MessageFactory(community=community))
    body = {"author": str(post.author_id), "reason": "Spam."}
    address = path(community, "hide-author/")
    assert signed_in(PersonFactory()).post(address, body).status_code == 404
    assert client.get(address).status_code == 405
    for wrong, status in (
        ({"reason": ""}, 400),
        ({"reason": "  "}, 400),
        ({"reason": "x" * 501}, 400),
        ({"author": ""}, 404),
        ({"author": "me"}, 404),
    ):
        assert client.post(address, body | wrong).status_code == status, wrong
    assert "Nobody has this handle." in hide_author(client, community, "01890a5d-ac96-774b-bcce-b302099a8057")
    other = create_community(owner=PersonFactory(), name="Other")
    job = BulkJob.objects.create(kind=BulkJob.HIDE_POSTS, label="x", total=0, community=other)
    assert client.post(path(community, f"hide-author/{job.pk}/undo/")).status_code == 404


def test_many_posts_of_an_author_are_hidden_after_the_answer(
    client: Client, community: Community, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("messaging.moderation.lists.running.BATCH", 1)
    monkeypatch.setattr("messaging.moderation.lists.running.SLICE_SECONDS", -1)
    monkeypatch.setattr("messaging.moderation.lists.running.run_slice.__kwdefaults__", {"seconds": -1})
    posts = MessageFactory.create_batch(3, community=community, author=PersonFactory())
    page = hide_author(client, community, posts[0].author_id)
    assert "It goes on if you leave this page" in page
    assert "1 of 3" in page
    assert 'class="undo"' not in page


def test_a_post_is_pinned_and_its_discussion_is_closed_from_its_card(
    client: Client, site: Embed, community: Community
) -> None:
    post, other = MessageFactory(community=community), MessageFactory(community=community)
    reply = MessageFactory(community=community, parent=post)
    back = f"{posts_path(site)}?state=recent"
    page = html(client, posts_path(site), state="recent")
    assert page.count('value="pin"') == 2, "not of a reply"
    assert "The post is pinned" in decide(client, community, "pin", post, back=back)
    assert list(Pin.objects.values_list("message_id", flat=True)) == [post.pk]
    page = html(client, posts_path(site), state="recent")
    assert (page.count(">Pinned<"), page.count('value="unpin"'), page.count('value="pin"')) == (1, 1, 1)
    assert "answer no other post" in decide(client, community, "pin", reply, back=back)
    assert "The discussion on the page is closed." in decide(client, community, "close", post, back=back)
    assert list(ClosedPage.objects.values_list("page_id", flat=True)) == [post.page_id]
    page = html(client, posts_path(site), state="recent")
    assert (page.count("Discussion closed"), page.count('value="close"')) == (2, 1), "the other page is open"
    assert "is open again" in decide(client, community, "reopen", reply, back=back)
    assert "was reopened already" in decide(client, community, "reopen", post, back=back)
    assert "is not pinned any more" in decide(client, community, "unpin", post, back=back)
    assert not ClosedPage.objects.exists()
    assert not Pin.objects.exists()
    assert other.page_id != post.page_id


@pytest.mark.slow
def test_a_page_with_full_cards_has_a_fixed_number_of_queries(
    client: Client, site: Embed, community: Community, django_assert_max_num_queries: Any
) -> None:
    for _ in range(POSTS_OF_PAGE):
        parent, quoted = MessageFactory(community=community), MessageFactory(community=community)
        post = MessageFactory(community=community, parent=parent, page=parent.page, quote=quoted)
        complain(post, times=2)
        MessageFactory(community=community, author=post.author, status=PENDING)
        other = MessageFactory(community=community)
        hide_author(client, community, other.author_id)
    for state in ("pending", "reported", "recent", "hidden"):
        with django_assert_max_num_queries(20):
            page = html(client, posts_path(site), state=state)
        assert len(ids_of(page)) == POSTS_OF_PAGE
        assert len(page.encode()) < 100_000
