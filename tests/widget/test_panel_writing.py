"""Writing in the panel: sign in, post, reply, quote, react, and the texts of failures."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import FrameLocator, Locator, Page, Route, expect

from embeds.widget.locales import words
from messaging.models import Account, Message
from tests.factories import AgentAccountFactory, PageFactory
from tests.widget.clock import poll_until
from tests.widget.live import PASSWORD, Live, panel_frame, reopen
from tests.widget.sign_in import open_window, submit
from tests.widget.test_panel_own import react, write
from tests.widget.test_panel_session import SIGNED_IN, expect_account, sign_in

pytestmark = [pytest.mark.slow, pytest.mark.processes, pytest.mark.browser, pytest.mark.django_db(transaction=True)]
DRAFT_SAVED = words("en")["panel"]["draft_saved"]
TO_OTHER_PAGE, BACK = "history.pushState(null, '', '/host/other')", "history.back()"


def draft_of(panel: FrameLocator | Page) -> Locator:
    return panel.get_by_label("Write a post…")


def post_again(panel: FrameLocator | Page) -> None:
    panel.locator("#write").get_by_role("button", name="Post").click()


def lose_the_first_response(live: Live) -> list[str]:
    """The service executes the first post, and the browser gets no response; returns the keys of all posts."""
    keys: list[str] = []

    def lose(route: Route) -> None:
        if route.request.method != "POST":
            return route.fallback()
        keys.append(route.request.headers["idempotency-key"])
        if len(keys) == 1:
            route.fetch()
            return route.abort()
        return route.fallback()

    live.context.route(f"{live.app}/api/messages", lose)
    return keys


def add_post_of_each_page(live: Live) -> None:
    live.message(content="Of the first page")
    live.message(page=PageFactory(url=f"{live.host}/host/other"), content="Of the other page")


def change_page(page: Page, panel: FrameLocator, how: str) -> None:
    """Wait for the post of the page: the form takes no text before."""
    page.evaluate(how)
    text = "Of the other page" if how == TO_OTHER_PAGE else "Of the first page"
    expect(panel.locator("article .content").last).to_have_text(text)


@pytest.mark.journey
def test_signed_in_person_can_post_reply_quote_and_react(live: Live, ada: Account) -> None:
    live.message(content="From before", author=AgentAccountFactory(name="Robbie"))
    live.embed.domain_whitelist = ["localhost"]
    live.embed.save()
    page, panel = live.open()
    sign_in(page, panel)
    write(panel, "My own post")
    expect(panel.locator("article").first).to_contain_text("My own post")
    before = panel.locator("article", has_text="From before").last
    before.get_by_role("button", name="Reply").click()
    panel.get_by_label("Reply to Robbie").fill("My reply")
    before.locator("form").get_by_role("button", name="Reply").click()
    expect(before.locator("article.reply")).to_contain_text("My reply")
    before.locator("> .body").get_by_role("button", name="Quote").click()
    expect(panel.locator(".quoted")).to_contain_text("Quoting Robbie")
    write(panel, "My quote")
    expect(panel.locator("blockquote.quote")).to_contain_text("From before")
    before.locator("> .body").get_by_role("button", name="React").click()
    before.get_by_role("button", name="🎉").click()
    chip = before.locator(".chip").first
    expect(chip).to_have_text("🎉1")
    expect(chip).to_have_attribute("aria-pressed", "true")
    chip.click()
    expect(before.locator(".chip")).to_have_count(0)

    stored = Message.objects.filter(author=ada)
    assert set(stored.values_list("content", flat=True)) == {"My own post", "My reply", "My quote"}
    assert set(stored.values_list("community_id", flat=True)) == {live.embed.community_id}
    assert live.errors == []


def test_sign_in_window_that_is_blocked_or_refuses_is_explained_and_the_draft_stays(live: Live, ada: Account) -> None:
    panel = live.open_alone()
    # A browser that blocks windows.
    panel.evaluate("() => { window.real = window.open; window.open = () => null; }")
    panel.get_by_role("button", name="Sign in").click()
    expect(panel.locator("#toast")).to_have_text(words("en")["panel"]["popup_blocked"])
    panel.evaluate("() => { window.open = window.real; }")
    with panel.context.expect_page() as opened:
        write(panel, "Written before signing in")
    window = opened.value
    alert = window.get_by_role("alert")
    submit(window, "login", handle="ada", password="not it")
    expect(alert).to_have_text("Handle or password is wrong.")
    window.get_by_role("button", name="Create an account").click()
    submit(window, "register", handle="ada", name="Another Ada", password=PASSWORD)
    expect(alert).to_have_text(words("en")["error"]["handle_taken"])
    submit(window, "register", handle="newcomer", name="New Comer", password=PASSWORD)
    expect(panel.locator("article")).to_contain_text("New Comer")
    expect(panel.locator("article .content")).to_have_text(["Written before signing in"])


def test_forged_sign_in_is_ignored(live: Live, ada: Account) -> None:
    """One that is accepted closes the window: with another nonce, from the panel itself, or from the host page."""
    page, panel = live.open()
    window = open_window(panel, page)
    forged = {"type": "signed-in", "accessToken": "t", "user": {"name": "Mallory"}}
    window.evaluate("(data) => opener.postMessage(data, location.origin)", forged | {"nonce": "0"})
    message = forged | {"nonce": window.evaluate("location.hash.slice(1)")}
    panel_frame(page).evaluate("(data) => postMessage(data, location.origin)", message)
    frame = "document.querySelector('community-embed').shadowRoot.querySelector('iframe')"
    page.evaluate(f"(data) => {frame}.contentWindow.postMessage(data, '*')", message)
    with window.expect_event("close"):
        submit(window, "login", handle="ada", password=PASSWORD)
    expect(panel.locator("#account")).to_contain_text("Signed in as Ada Lovelace")


def test_opener_of_another_origin_does_not_get_the_token(live: Live, ada: Account) -> None:
    """It is sent to windows of the app's origin only, for any opener and any nonce."""
    page = live.context.new_page()
    page.goto(live.url)
    page.evaluate("window.received = []; addEventListener('message', (event) => received.push(event.data))")
    with page.context.expect_page() as opened:
        page.evaluate(f"window.open('{live.app}/embed/sign-in#mine')")
    window = opened.value
    submit(window, "login", handle="ada", password=PASSWORD)
    expect(window.locator("#done")).to_be_visible()
    window.evaluate("opener.postMessage('later', '*')")
    page.wait_for_function("received.includes('later')")
    assert page.evaluate("received.filter((data) => data && data.accessToken)") == []


ERRORS = [
    (401, {"error": "token_expired"}, {}, "Your sign-in has ended"),
    (403, {"error": "user_mismatch"}, {}, "Your sign-in has ended"),
    (403, {"error": "community_forbids"}, {}, "The community’s rules do not allow this here."),
    (403, {"error": "domain_not_allowed"}, {}, "may not be used on this site"),
    (403, {"error": "embed_not_active"}, {}, "has paused this discussion"),
    (404, {"error": "embed_not_found"}, {}, "no longer exists"),
    (404, {"error": "quote_not_found"}, {}, "The post you quote is no longer available."),
    (400, {"error": "unknown_page", "field": "pageId"}, {}, "no longer knows this page"),
    (400, {"error": "invalid_input", "field": "content"}, {}, "could not accept this text"),
    (413, {"error": "content_too_long", "field": "content", "max": 20000}, {}, "at most 20,000 characters"),
    (413, {"error": "payload_too_large", "field": "body", "max": 1048576}, {}, "too much in one post"),
    (422, {"error": "content_blocked"}, {}, "word list does not allow this text"),
    (429, {"error": "rate_limited"}, {"Retry_After": "40"}, "Try again in 40 seconds"),
    (429, {"error": "rate_limited"}, {"Retry_After": "1700"}, "Try again in 29 minutes"),
    (500, {"error": "internal_error"}, {}, "Something broke on our side"),
    (503, {"error": "temporarily_unavailable"}, {}, "away for a moment"),
    (502, None, {}, "away for a moment"),
    (429, None, {"Retry_After": "40"}, "Try again in 40 seconds"),
    (403, None, {}, "away for a moment"),
    (418, {"error": "teapot"}, {}, "This did not work (teapot)"),
]


def test_each_refusal_is_explained_and_the_draft_stays(live: Live, ada: Account) -> None:
    live.signed_in(ada)
    page = live.open_alone()
    problem = page.locator("#write .problem")
    keys = set()
    for status, body, headers, text in ERRORS:
        requests = live.respond("/api/messages", status, body, **headers)
        write(page, "Words that matter")
        expect(problem).to_contain_text(text)
        expect(problem).to_contain_text(DRAFT_SAVED)
        expect(draft_of(page)).to_have_value("Words that matter")
        keys.add(requests[0].headers["idempotency-key"])
        live.context.unroute(f"{live.app}/api/messages")
        if status == 401 or (body or {}).get("error") == "user_mismatch":
            expect(page.locator("#account")).to_contain_text("Sign in to post")
            # Every load of the panel in this test finds a session, and the draft with its key.
            page.reload()
            expect(page.locator("#account")).to_contain_text("Signed in as")
    assert len(keys) == 1


def test_posts_that_are_empty_long_blocked_in_progress_or_answered_too_late_can_be_sent_in_the_end(
    live: Live, ada: Account
) -> None:
    live.embed.blocked_words = ["turnip"]
    live.embed.save()
    live.signed_in(ada)
    panel = live.open_alone()
    problem, posts = panel.locator("#write .problem"), panel.locator("article .content")
    requests = live.respond("/api/messages", 500, {})
    write(panel, "   ")
    expect(problem).to_have_text("Write something first.")
    draft_of(panel).fill("😀" * 19_999)
    expect(panel.locator(".counter")).to_have_text("1 character left")
    draft_of(panel).fill("😀" * 20_001)
    expect(panel.locator(".counter")).to_have_text("1 character too many")
    assert requests == []
    live.context.unroute(f"{live.app}/api/messages")
    write(panel, "A turnip!")
    expect(problem).to_contain_text("word list")
    attempts = []

    def busy_once(route: Route) -> None:
        if route.request.method == "POST" and not attempts:
            attempts.append(1)
            return route.fulfill(status=409, json={"error": "idempotency_in_progress"}, headers={"retry-after": "1"})
        return route.fallback()

    live.context.route(f"{live.app}/api/messages", busy_once)
    write(panel, "A carrot!")
    expect(posts).to_have_text(["A carrot!"])
    assert len(attempts) == 1
    keys = lose_the_first_response(live)
    write(panel, "Only once")
    expect(problem).to_contain_text("There is no connection to the service.")
    post_again(panel)
    expect(posts).to_have_text(["Only once", "A carrot!"])
    assert len(keys) == 2
    assert len(set(keys)) == 1
    assert Message.objects.count() == 2


@pytest.mark.parametrize("mismatch", ["replay", "reject"])
def test_changed_retry_of_a_stored_post_or_reply_stays_a_draft(
    live: Live, ada: Account, settings: Any, mismatch: str
) -> None:
    settings.IDEMPOTENCY_MISMATCH = mismatch
    live.signed_in(ada)
    live.context.clock.install()
    panel = live.open_alone()
    problem, posts = panel.locator("#write .problem"), panel.locator("article .content")
    lose_the_first_response(live)
    write(panel, "Version one")
    expect(problem).to_be_visible()
    write(panel, "Version two")
    expect(problem).to_have_text(words("en")["panel"]["earlier"])
    poll_until(panel, panel.locator("article .content", has_text="Version one"))
    expect(posts).to_have_text(["Version one"])
    expect(draft_of(panel)).to_have_value("Version two")
    post_again(panel)
    expect(posts).to_have_text(["Version two", "Version one"])

    # A reply stays in its form, with the focus.
    lose_the_first_response(live)
    first = panel.locator("article", has_text="Version one")
    area, problem, replies = first.locator("textarea"), first.locator("form .problem"), first.locator(".reply .content")
    first.get_by_role("button", name="Reply").click()
    area.fill("Reply one")
    area.press("Control+Enter")
    expect(problem).to_contain_text(DRAFT_SAVED)
    area.fill("Reply two")
    area.press("Control+Enter")
    expect(problem).to_have_text(words("en")["panel"]["earlier"])
    poll_until(panel, replies)
    expect(replies).to_have_text(["Reply one"])
    expect(area).to_have_value("Reply two")
    expect(area).to_be_focused()
    area.press("Control+Enter")
    expect(replies).to_have_text(["Reply one", "Reply two"])
    expect(area).to_have_count(0)
    expect(panel.locator("article.reply").last).to_be_focused()


def test_a_post_that_arrives_after_a_change_of_page_is_not_shown_there_and_leaves_the_key_of_its_draft(
    live: Live, ada: Account
) -> None:
    add_post_of_each_page(live)
    live.signed_in(ada)
    page, panel = live.open()
    draft, posts = draft_of(panel), panel.locator("article .content")
    attempts: list[tuple[str, str]] = []

    def lose_and_delay(route: Route) -> None:
        request = route.request
        if request.method != "POST":
            return route.fallback()
        attempts.append((request.post_data_json["content"], request.headers["idempotency-key"]))
        response = route.fetch()
        if len(attempts) == 1:
            return route.abort()
        if len(attempts) == 2:
            page.evaluate(TO_OTHER_PAGE)
            expect(draft).to_have_value("Other page")
        return route.fulfill(response=response)

    live.context.route(f"{live.app}/api/messages", lose_and_delay)
    change_page(page, panel, TO_OTHER_PAGE)
    write(panel, "Other page")
    expect(panel.locator("#write .problem")).to_be_visible()
    change_page(page, panel, BACK)
    expect(draft).to_have_value("")
    write(panel, "This page")
    expect(draft).to_have_value("Other page")
    expect(panel.locator("#toast")).to_have_text(words("en")["panel"]["published"])
    expect(panel.locator("#write form.busy")).to_have_count(0)
    expect(posts).to_have_text(["Other page", "Of the other page"])
    post_again(panel)
    expect(draft).to_have_value("")
    assert [text for text, _key in attempts] == ["Other page", "This page", "Other page"]
    assert attempts[0][1] == attempts[2][1]
    assert Message.objects.filter(content="Other page").count() == 1
    page.evaluate(BACK)
    expect(posts).to_have_text(["This page", "Of the first page"])


def test_a_post_that_is_sent_twice_while_the_session_is_renewed_is_written_once(live: Live, ada: Account) -> None:
    live.context.clock.install()
    page, panel = live.open()
    sign_in(page, panel)
    page.clock.fast_forward(16 * 60_000)
    renewals, posts = live.intercept("/api/auth/panel-token"), live.intercept("/api/messages")
    write(panel, "Only once")
    post_again(panel)
    live.wait_for_first(renewals).fallback()
    live.wait_for_first(posts).fallback()
    expect(panel.locator("article .content")).to_have_text(["Only once"])
    expect(panel.locator("#write form.busy")).to_have_count(0)
    draft_of(panel).fill("The next")
    # A second request would have left the panel with the first.
    assert len(posts) == 1
    expect(draft_of(panel)).to_have_value("The next")


def test_a_change_of_page_during_the_sign_in_keeps_the_draft_of_each_page(live: Live, ada: Account) -> None:
    add_post_of_each_page(live)
    page, panel = live.open()
    draft = draft_of(panel)
    change_page(page, panel, TO_OTHER_PAGE)
    draft.fill("Other page")
    change_page(page, panel, BACK)
    with page.context.expect_page() as opened:
        write(panel, "This page")
    change_page(page, panel, TO_OTHER_PAGE)
    expect(draft).to_have_value("Other page")
    posts = live.intercept("/api/messages")
    submit(opened.value, "login", handle="ada", password=PASSWORD)
    expect_account(panel, SIGNED_IN)
    # The form would have been busy since the sign-in.
    expect(panel.locator("#write form.busy")).to_have_count(0)
    assert posts == []
    expect(draft).to_have_value("Other page")
    page.evaluate(BACK)
    expect(draft).to_have_value("This page")
    reopen(page)
    expect(draft).to_have_value("This page")


def test_a_post_deletes_no_draft_that_was_written_in_another_tab_meanwhile(live: Live, ada: Account) -> None:
    live.signed_in(ada)
    _, panel = live.open()
    other, others_panel = live.open()
    late = live.intercept("/api/messages")
    write(panel, "From one tab")
    route = live.wait_for_first(late)
    draft_of(others_panel).fill("From the other tab")
    route.continue_()
    expect(panel.locator("article").first).to_contain_text("From one tab")
    expect(draft_of(panel)).to_have_value("")
    live.context.unroute(f"{live.app}/api/messages")
    reopen(other)
    expect(draft_of(others_panel)).to_have_value("From the other tab")


def test_sign_in_without_an_opener_is_explained_and_works_in_a_tab(live: Live, ada: Account) -> None:
    live.headers["cross-origin-opener-policy"] = "same-origin"
    page, panel = live.open()
    window = open_window(panel, page)
    expect(window.locator("#lost")).to_contain_text("open the discussion in a tab of its own")
    alone = live.open_alone()
    submit(open_window(alone, page), "login", handle="ada", password=PASSWORD)
    expect(alone.locator("#account")).to_contain_text("Signed in as Ada Lovelace")


def test_refused_reaction_is_explained_and_signing_out_deletes_the_session(live: Live, ada: Account) -> None:
    react(ada, live.message(), "🎉")
    live.signed_in(ada)
    panel = live.open_alone()
    live.respond("/v1/reactions", 429, {"error": "rate_limited"}, Retry_After="5")
    panel.get_by_role("button", name="React").click()
    panel.locator(".choice").get_by_role("button", name="👍").click()
    expect(panel.locator("#toast")).to_contain_text("Try again in 5 seconds")
    expect(panel.locator(".chip")).to_have_attribute("aria-pressed", "true")
    panel.get_by_role("button", name="Sign out").press("Enter")
    expect(panel.locator("#account")).to_have_text(re.compile("^Sign in to post"))
    expect(panel.get_by_role("button", name="Sign in")).to_be_focused()
    expect(panel.locator(".chip")).to_have_attribute("aria-pressed", "false")
    assert panel.evaluate("sessionStorage.getItem('session')") is None
