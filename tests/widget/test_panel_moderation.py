"""Moderators decide where they read: the panel marks for them what waits, and the menu of a post has decisions."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import FrameLocator, Locator, Page, Route, expect

from embeds.widget.assets import moderation_script
from embeds.widget.locales import LANGUAGES, words
from messaging.models import Account, Ban, HiddenHere, Message, Moderator, Report
from messaging.moderation.services import approve_message
from tests.api import Api
from tests.factories import CommunityFactory, MessageFactory, PersonFactory, SuperAdminFactory
from tests.widget.clock import poll, poll_until
from tests.widget.live import Live, walk_menu
from tests.widget.test_accessibility import violations_of_state
from tests.widget.test_panel_actions import items, post_of

pytestmark = [pytest.mark.slow, pytest.mark.processes, pytest.mark.browser, pytest.mark.django_db(transaction=True)]
PANEL, WORDS = words("en")["panel"], words("en")["moderation"]
ERRORS = words("en")["moderation_error"]
SCRIPT_MAX = 5 * 1024


@pytest.fixture
def mod(live: Live, ada: Account) -> Account:
    """Ada, as a moderator of the embed's community who is signed in."""
    Moderator.objects.create(community=live.embed.community, account=ada)
    live.signed_in(ada)
    return ada


def pending(live: Live, content: str = "Please look", **fields: Any) -> Message:
    return live.message(content=content, status="pending", **fields)


def report(post: Message, reason: str = "spam", note: str = "") -> None:
    Report.objects.create(message=post, reporter=PersonFactory(), reason=reason, note=note)


def decide(post: Locator, item: str, reason: str = "", button: str | None = None) -> None:
    """Choose an item of the menu, and send its form."""
    post.locator("> header .menu > button").click()
    post.get_by_role("menuitem", name=WORDS[item], exact=True).click()
    if reason:
        post.locator("form input").fill(reason)
    post.locator("form").get_by_role("button", name=WORDS[button or item], exact=True).click()


def waiting(panel: Page | FrameLocator) -> Locator:
    return panel.locator(".top .waiting")


def status_of(message: Message) -> str:
    message.refresh_from_db()
    return message.status


def test_a_pending_post_is_marked_and_approved_with_the_keyboard(live: Live, mod: Account) -> None:
    live.context.clock.install()
    live.message(content="Published")
    post, bystander = pending(live), pending(live, "Stays", author=PersonFactory())
    reader = live.context.browser.new_page()  # type: ignore[union-attr]
    reader.goto(live.panel_url())
    reader.locator(".thread[aria-busy=false]").wait_for()
    expect(reader.locator("article .content")).to_have_text(["Published"])
    page = live.follow_alone()
    expect(waiting(page)).to_have_text("2 to review")
    shown = post_of(page, post)
    expect(shown.locator(".review")).to_contain_text(WORDS["pending"])
    expect(shown.get_by_role("button", name="Reply")).to_be_hidden()
    assert items(shown) == [WORDS["approve"], WORDS["hide"], WORDS["ban"]]
    button = shown.locator("> header .menu > button")
    button.focus()
    walk_menu(page, "Enter")
    expect(shown.locator("form input")).to_be_focused()
    page.keyboard.press("Escape")
    expect(button).to_be_focused()
    walk_menu(page, "Enter")
    expect(shown.locator("form input")).to_be_focused()
    page.keyboard.type("Welcome")
    page.keyboard.press("Enter")
    expect(shown.locator(".review")).to_be_hidden()
    expect(page.locator("#toast")).to_have_text(WORDS["approved"])
    expect(shown.get_by_role("button", name="Reply")).to_be_visible()
    expect(waiting(page)).to_have_text("1 to review")
    expect(button).to_be_focused()
    assert (status_of(post), status_of(bystander)) == ("published", "pending")
    assert live.embed.community.decisions.get().reason == "Welcome"
    reader.reload()
    expect(reader.locator("article .content")).to_have_text(["Please look", "Published"])
    assert live.errors == []
    reader.close()


def test_a_hidden_post_is_restored_to_what_it_was(live: Live, mod: Account) -> None:
    live.context.clock.install()
    root = live.message(content="Root")
    live.message(content="A reply", parent=root)
    held, bystander = pending(live), live.message(content="Stays")
    page = live.follow_alone()
    for post, status in ((root, "published"), (held, "pending")):
        shown = post_of(page, post)
        decide(shown, "hide", "An advertisement.")
        restore = shown.get_by_role("button", name=WORDS["restore"])
        expect(restore).to_be_focused()
        expect(shown).to_contain_text(WORDS["hidden"])
        expect(shown.locator("article")).to_have_count(0)
        assert status_of(post) == "hidden"
        # The change of the post removes it from other panels, and leaves this place.
        poll(page)
        restore.click()
        expect(page.locator("#toast")).to_have_text(WORDS["restored"])
        expect(shown.locator("> .body .content")).to_have_text(post.content)
        assert status_of(post) == status
    expect(post_of(page, held).locator(".review")).to_contain_text(WORDS["pending"])
    expect(waiting(page)).to_have_text("1 to review")
    post_of(page, root).get_by_role("button", name="Show 1 reply").click()
    expect(post_of(page, root).locator("article .content")).to_have_text(["A reply"])
    decide(post_of(page, root), "hide")
    expect(post_of(page, root)).to_contain_text(WORDS["hidden"])
    page.reload()
    expect(page.locator("article .content")).to_have_text(["Stays", "Please look"])
    assert status_of(bystander) == "published"
    assert live.errors == []


def test_reports_are_shown_with_their_reasons_and_dismissed(live: Live, mod: Account) -> None:
    live.message(content="Fine")
    post = live.message(content="Rude")
    report(post, "abuse", "<b>Look</b> at the last word")
    report(post, "spam")
    page = live.open_alone()
    mark = post_of(page, post).locator("> .body > .review", has_text="2 reports")
    expect(mark.locator("li")).to_have_text(
        [f"{PANEL['reason_abuse']}: <b>Look</b> at the last word", PANEL["reason_spam"]]
    )
    expect(page.locator(".review:visible")).to_have_count(1)
    expect(waiting(page)).to_have_attribute(
        "href", re.compile(rf"/{live.embed.community.slug}/moderation/\?state=reported$")
    )
    assert items(post_of(page, post)) == [
        "Copy link",
        "Report",
        WORDS["dismiss"],
        WORDS["pin"],
        WORDS["hide"],
        WORDS["ban"],
    ]
    # Posts that are shown later are marked too.
    page.get_by_label("Order").select_option("oldest")
    expect(mark).to_have_count(1)
    decide(post_of(page, post), "dismiss")
    expect(page.locator("#toast")).to_have_text(WORDS["dismissed"])
    expect(mark).to_have_count(0)
    expect(waiting(page)).to_be_hidden()
    assert status_of(post) == "published"
    assert not Report.objects.filter(closed_at=None).exists()


def test_an_author_is_banned_with_a_reason_and_the_ban_is_lifted(live: Live, mod: Account) -> None:
    author, bystander = PersonFactory(name="Mallory"), PersonFactory()
    post, own = live.message(content="Buy this", author=author), live.message(content="Mine", author=mod)
    page = live.open_alone()
    shown = post_of(page, post)
    expect(waiting(page)).to_be_hidden()
    assert WORDS["ban"] not in items(post_of(page, own))
    decide(shown, "ban")
    # A ban needs a reason.
    expect(shown.locator("form input")).to_be_focused()
    expect(shown.locator("form")).to_contain_text(f"Ban Mallory from this community? {WORDS['ban_hint']}")
    assert not Ban.objects.exists()
    shown.locator("form input").fill("Floods.")
    page.keyboard.press("Enter")
    expect(page.locator("#toast")).to_have_text("Mallory is banned.")
    expect(shown.locator(".content")).to_have_text("Buy this")
    assert [(ban.account, ban.reason) for ban in Ban.objects.all()] == [(author, "Floods.")]
    body = {"pageId": live.article.pk, "content": "More", "communityId": str(live.embed.community_id)}
    assert Api.as_person(author).post("/api/messages", body).error == "banned_from_community"
    assert Api.as_person(bystander).post("/api/messages", body).status == 201
    shown.locator("> header .menu > button").click()
    shown.get_by_role("menuitem", name=WORDS["lift"]).click()
    expect(page.locator("#toast")).to_have_text(WORDS["lifted"])
    assert not Ban.objects.exists()
    assert WORDS["ban"] in items(shown)


def test_a_post_of_others_is_hidden_here_alone(live: Live, mod: Account) -> None:
    live.change(shows="everyone")
    post, own = live.message(content="Nobody's", community=None), live.message(content="Own")
    page = live.open_alone()
    shown = post_of(page, post)
    expect(shown).to_be_visible()
    page.wait_for_function("document.querySelector('.waiting')")
    eventually_items(post_of(page, own), ["Copy link", "Report", WORDS["pin"], WORDS["hide"], WORDS["ban"]])
    assert items(shown) == ["Copy link", "Report", WORDS["hide_here"], WORDS["ban"]]
    decide(shown, "hide_here", "Off topic.")
    expect(shown).to_contain_text(WORDS["hidden_here"])
    assert HiddenHere.objects.get().message == post
    assert live.embed.community.decisions.get().reason == "Off topic."
    assert status_of(post) == "published"
    shown.get_by_role("button", name=WORDS["restore"]).click()
    expect(shown.locator(".content")).to_have_text("Nobody's")
    assert not HiddenHere.objects.exists()
    decide(shown, "hide_here")
    expect(shown).to_contain_text(WORDS["hidden_here"])
    page.reload()
    expect(page.locator("article .content")).to_have_text(["Own"])


def eventually_items(post: Locator, expected: list[str]) -> None:
    """The script of moderators is loaded after the posts."""
    for _ in range(100):
        if items(post) == expected:
            return
        post.page.wait_for_timeout(50)
    assert items(post) == expected


@pytest.mark.parametrize("who", ["nobody", "reader", "elsewhere"])
def test_other_readers_see_nothing_and_load_no_script_of_moderators(live: Live, ada: Account, who: str) -> None:
    pending(live)
    reported = live.message(content="Rude")
    report(reported)
    if who == "elsewhere":
        Moderator.objects.create(community=CommunityFactory(), account=ada)
    if who != "nobody":
        live.signed_in(ada)
    sent: list[str] = []
    live.context.on("request", lambda request: sent.append(request.url.removeprefix(live.app).split("?")[0]))
    page = live.open_alone()
    page.wait_for_load_state("networkidle")
    expect(page.locator("article .content")).to_have_text(["Rude"])
    assert items(post_of(page, reported)) == ["Copy link", "Report"]
    expect(page.locator(".review:visible")).to_have_count(0)
    expect(page.locator(".waiting:visible")).to_have_count(0)
    scripts = [path for path in sent if path.startswith("/embed/moderation/")]
    asked = [path for path in sent if "moderation" in path and path not in scripts]
    # Who moderates another community learns by one question that this is none of theirs.
    assert asked == (["/v1/me/moderation"] if who == "elsewhere" else [])
    assert len(scripts) == (who == "elsewhere")


def test_marks_follow_decisions_of_others_and_end_with_the_session(live: Live, mod: Account) -> None:
    live.context.clock.install()
    live.message(content="Published")
    first, second = pending(live, "First"), pending(live, "Second")
    page = live.follow_alone()
    expect(page.locator("article .content")).to_have_text(["Second", "First", "Published"])
    approve_message(message_id=first.pk, by=SuperAdminFactory())
    poll(page)
    expect(post_of(page, first).locator(".review")).to_be_hidden()
    pending(live, "Third")
    report(first)
    poll_until(page, page.locator("article", has_text="Third"))
    expect(post_of(page, first)).to_contain_text("1 report")
    page.get_by_role("button", name="Sign out").click()
    expect(page.locator("article .content")).to_have_text(["First", "Published"])
    expect(page.locator(".review:visible")).to_have_count(0)
    expect(waiting(page)).to_be_hidden()
    assert items(post_of(page, first)) == ["Copy link", "Report"]
    assert status_of(second) == "pending"
    assert live.errors == []


def test_a_pending_reply_is_below_its_post_and_a_pending_one_of_another_page_is_only_counted(
    live: Live, mod: Account
) -> None:
    root = live.message(content="Root")
    reply = pending(live, "A reply", parent=root)
    MessageFactory(community=live.embed.community, status="pending", content="Elsewhere")
    MessageFactory(page=live.article, community=CommunityFactory(), status="pending", content="Of others")
    page = live.open_alone()
    expect(post_of(page, root).locator("article.reply .content")).to_have_text(["A reply"])
    expect(page.locator("article")).to_have_count(2)
    expect(waiting(page)).to_have_text("2 to review")
    decide(post_of(page, reply), "approve")
    expect(post_of(page, reply).locator(".review")).to_be_hidden()
    expect(waiting(page)).to_have_text("1 to review")


def test_a_refused_decision_says_why_and_the_post_stays(live: Live, mod: Account) -> None:
    post = pending(live)
    page = live.open_alone()
    shown = post_of(page, post)
    expect(shown).to_be_visible()
    edited = {"content": "Something else"}
    assert Api.as_person(post.author).put(f"/api/messages/{post.pk}", edited).status == 200
    decide(shown, "approve")
    problem = shown.locator("form .problem")
    expect(problem).to_have_text(ERRORS["message_edited"])
    assert status_of(post) == "pending"
    page.reload()
    expect(shown.locator(".content")).to_have_text("Something else")
    approve_message(message_id=post.pk, by=SuperAdminFactory())
    decide(shown, "approve")
    expect(problem).to_have_text(ERRORS["message_state_changed"])
    Moderator.objects.filter(account=mod).delete()
    decide(shown, "hide")
    expect(problem).to_have_text(ERRORS["moderator_required"])
    assert status_of(post) == "published"
    live.context.route("**/v1/moderation/**", lambda route: route.abort())
    shown.locator("form").get_by_role("button", name=WORDS["hide"]).click()
    expect(problem).to_have_text("There is no connection to the service.")


def test_a_count_has_an_end_and_leads_to_the_queue(live: Live, mod: Account) -> None:
    def many(route: Route) -> None:
        route.fulfill(json=route.fetch().json() | {"pending": 100, "reported": 3})

    live.context.route("**/v1/me/moderation?*", many)
    _, panel = live.open()
    queue = re.compile(rf"/account/communities/{live.embed.community.slug}/moderation/$")
    expect(waiting(panel)).to_have_text("100+ to review")
    expect(waiting(panel)).to_have_attribute("target", "_blank")
    expect(waiting(panel)).to_have_attribute("href", queue)


@pytest.mark.parametrize("lang", ["en", "ar"])
def test_menus_marks_and_forms_have_no_violations_on_a_phone(live: Live, mod: Account, lang: str) -> None:
    post, rude = pending(live), live.message(content="Rude")
    report(rude, "abuse", "The last word")
    page = live.context.new_page()
    page.set_viewport_size({"width": 390, "height": 800})
    page.goto(live.panel_url(lang=lang))
    shown = post_of(page, post)
    expect(shown).to_be_visible()
    menu = shown.locator("> header .menu > button")
    menu.click()
    for item in shown.get_by_role("menuitem").all():
        box = item.bounding_box()
        assert box
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390
    assert violations_of_state(page) == []
    page.set_viewport_size({"width": 390, "height": 800})
    page.keyboard.press("Escape")
    menu.click()
    shown.get_by_role("menuitem").last.click()
    expect(shown.locator("form input")).to_be_focused()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert violations_of_state(page) == []


def test_a_moderator_has_a_badge_where_they_moderate(live: Live, mod: Account) -> None:
    other = live.message(content="By a reader")
    Moderator.objects.create(community=CommunityFactory(), account=other.author)
    post = live.message(content="By a moderator", author=mod)
    bystander = PersonFactory()
    live.signed_in(bystander)
    page = live.open_alone()
    expect(post_of(page, post).locator("> header .badge")).to_have_text(PANEL["moderator"])
    expect(post_of(page, other).locator("> header .badge")).to_have_count(0)


def test_the_script_of_moderators_is_small_in_each_language() -> None:
    assert {len(moderation_script(language).gzipped) <= SCRIPT_MAX for language in LANGUAGES} == {True}
    assert "إخفاء" in moderation_script("ar").plain.decode()
