"""Writing in the panel: sign in, post, reply, quote, react, and the texts of failures."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from playwright.sync_api import FrameLocator, Page, expect

from embeds.widget.locales import words
from messaging.models import Account, Message
from tests.factories import AgentAccountFactory, PageFactory
from tests.widget.clock import poll_until
from tests.widget.live import PASSWORD, Live, panel_frame, reopen
from tests.widget.sign_in import open_window, submit
from tests.widget.test_panel_session import SIGNED_IN, expect_account, sign_in

pytestmark = [pytest.mark.slow, pytest.mark.processes, pytest.mark.browser, pytest.mark.django_db(transaction=True)]
DRAFT_SAVED = words("en")["panel"]["draft_saved"]
TO_OTHER_PAGE, BACK = "history.pushState(null, '', '/host/other')", "history.back()"


def write(panel: FrameLocator, text: str) -> None:
    panel.get_by_label("Write a post…").fill(text)
    panel.locator("#write").get_by_role("button", name="Post").click()


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
    page, panel = live.open()
    window = open_window(panel, page)
    with window.expect_event("close"):
        submit(window, "login", handle="ada", password=PASSWORD)
    expect(panel.locator("#account")).to_contain_text("Signed in as Ada Lovelace")

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

    assert set(Message.objects.filter(author=ada).values_list("content", flat=True)) == {
        "My own post",
        "My reply",
        "My quote",
    }
    assert set(Message.objects.filter(author=ada).values_list("community_id", flat=True)) == {
        live.embed.community_id,
        None,
    }
    assert live.errors == []


def test_panel_may_write_on_a_host_of_the_whitelist(live: Live, ada: Account) -> None:
    live.embed.domain_whitelist = ["localhost"]
    live.embed.save()
    live.signed_in(ada)
    _, panel = live.open()
    write(panel, "From an allowed page")
    expect(panel.locator("article .content")).to_have_text(["From an allowed page"])


def test_draft_is_sent_after_registration(live: Live) -> None:
    page, panel = live.open()
    panel.get_by_label("Write a post…").fill("Written before signing in")
    with page.context.expect_page() as opened:
        panel.locator("#write").get_by_role("button", name="Post").click()
    window = opened.value
    window.get_by_role("button", name="Create an account").click()
    submit(window, "register", handle="newcomer", name="New Comer", password=PASSWORD)
    expect(panel.locator("article")).to_contain_text("New Comer")
    expect(panel.locator("article .content")).to_have_text(["Written before signing in"])


def test_sign_in_window_explains_refusals(live: Live, ada: Account) -> None:
    page, panel = live.open()
    window = open_window(panel, page)
    submit(window, "login", handle="ada", password="not it")
    expect(window.get_by_role("alert")).to_have_text("Handle or password is wrong.")
    window.get_by_role("button", name="Create an account").click()
    submit(window, "register", handle="ada", name="Another Ada", password=PASSWORD)
    expect(window.get_by_role("alert")).to_have_text(words("en")["error"]["handle_taken"])


@pytest.mark.parametrize("forged", ["nonce", "window"])
def test_forged_sign_in_is_ignored(live: Live, ada: Account, forged: str) -> None:
    """One that is accepted closes the window."""
    page, panel = live.open()
    window = open_window(panel, page)
    session = {"accessToken": "t", "user": {"name": "Mallory"}}
    nonce = window.evaluate("location.hash.slice(1)") if forged == "window" else "0"
    message = json.dumps({"type": "signed-in", "nonce": nonce, **session})
    if forged == "nonce":
        window.evaluate(f"opener.postMessage({message}, location.origin)")
    else:
        panel_frame(page).evaluate(f"postMessage({message}, location.origin)")
        frame = "document.querySelector('community-embed').shadowRoot.querySelector('iframe')"
        page.evaluate(f"{frame}.contentWindow.postMessage({message}, '*')")
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
    page, panel = live.open()
    keys = set()
    for status, body, headers, text in ERRORS:
        requests = live.respond("/api/messages", status, body, **headers)
        write(panel, "Words that matter")
        problem = panel.locator("#write .problem")
        expect(problem).to_contain_text(text)
        expect(problem).to_contain_text(DRAFT_SAVED)
        expect(panel.get_by_label("Write a post…")).to_have_value("Words that matter")
        keys.add(requests[0].headers["idempotency-key"])
        live.context.unroute(f"{live.app}/api/messages")
        if status == 401 or (body or {}).get("error") == "user_mismatch":
            expect(panel.locator("#account")).to_contain_text("Sign in to post")
            # Every load of the panel in this test finds a session, and the draft with its key.
            page.reload()
            page.locator("community-embed button.trigger").click()
            expect(panel.locator("#account")).to_contain_text("Signed in as")
    assert len(keys) == 1


def test_corrected_text_is_accepted_after_a_refusal_of_the_word_list(live: Live, ada: Account) -> None:
    live.embed.blocked_words = ["turnip"]
    live.embed.save()
    live.signed_in(ada)
    _, panel = live.open()
    write(panel, "A turnip!")
    expect(panel.locator("#write .problem")).to_contain_text("word list")
    write(panel, "A carrot!")
    expect(panel.locator("article .content")).to_have_text(["A carrot!"])


def test_retry_after_a_lost_response_uses_the_same_key_and_writes_once(live: Live, ada: Account) -> None:
    live.signed_in(ada)
    _, panel = live.open()
    keys: list[str] = []

    def lose_the_response(route: Any) -> None:
        if route.request.method != "POST":
            return route.fallback()
        keys.append(route.request.headers["idempotency-key"])
        if len(keys) == 1:
            route.fetch()
            return route.abort()
        return route.fallback()

    live.context.route(f"{live.app}/api/messages", lose_the_response)
    write(panel, "Only once")
    expect(panel.locator("#write .problem")).to_contain_text("There is no connection to the service.")
    panel.locator("#write").get_by_role("button", name="Post").click()
    expect(panel.locator("article .content")).to_have_text(["Only once"])
    assert len(set(keys)) == 1
    assert Message.objects.count() == 1


@pytest.mark.parametrize("mismatch", ["replay", "reject"])
def test_changed_retry_of_a_stored_post_stays_a_draft(live: Live, ada: Account, settings: Any, mismatch: str) -> None:
    settings.IDEMPOTENCY_MISMATCH = mismatch
    live.signed_in(ada)
    live.context.clock.install()
    page, panel = live.open()
    first = []

    def lose_the_first(route: Any) -> None:
        if route.request.method == "POST" and not first:
            first.append(route.fetch())
            return route.abort()
        return route.fallback()

    live.context.route(f"{live.app}/api/messages", lose_the_first)
    write(panel, "Version one")
    expect(panel.locator("#write .problem")).to_be_visible()
    write(panel, "Version two")
    expect(panel.locator("#write .problem")).to_have_text(words("en")["panel"]["earlier"])
    poll_until(page, panel.locator("article .content", has_text="Version one"))
    expect(panel.locator("article .content")).to_have_text(["Version one"])
    expect(panel.get_by_label("Write a post…")).to_have_value("Version two")
    panel.locator("#write").get_by_role("button", name="Post").click()
    expect(panel.locator("article .content")).to_have_text(["Version two", "Version one"])


def test_a_post_that_arrives_after_a_change_of_page_leaves_the_key_of_the_draft_there(live: Live, ada: Account) -> None:
    add_post_of_each_page(live)
    live.signed_in(ada)
    page, panel = live.open()
    attempts: list[tuple[str, str]] = []

    def lose_and_delay(route: Any) -> None:
        request = route.request
        if request.method != "POST":
            return route.fallback()
        attempts.append((request.post_data_json["content"], request.headers["idempotency-key"]))
        response = route.fetch()
        if len(attempts) == 1:
            return route.abort()
        if len(attempts) == 2:
            page.evaluate(TO_OTHER_PAGE)
            expect(panel.get_by_label("Write a post…")).to_have_value("Other page")
        return route.fulfill(response=response)

    live.context.route(f"{live.app}/api/messages", lose_and_delay)
    change_page(page, panel, TO_OTHER_PAGE)
    write(panel, "Other page")
    expect(panel.locator("#write .problem")).to_be_visible()
    change_page(page, panel, BACK)
    expect(panel.get_by_label("Write a post…")).to_have_value("")
    write(panel, "This page")
    expect(panel.get_by_label("Write a post…")).to_have_value("Other page")
    expect(panel.locator("#write form.busy")).to_have_count(0)
    panel.locator("#write").get_by_role("button", name="Post").click()
    expect(panel.get_by_label("Write a post…")).to_have_value("")
    assert [text for text, _key in attempts] == ["Other page", "This page", "Other page"]
    assert attempts[0][1] == attempts[2][1]
    assert Message.objects.filter(content="Other page").count() == 1


def test_changed_retry_of_a_stored_reply_stays_in_its_form_with_the_focus(live: Live, ada: Account) -> None:
    live.message(content="Root")
    live.signed_in(ada)
    _, panel = live.open()
    first = []

    def lose_the_first(route: Any) -> None:
        if route.request.method == "POST" and not first:
            first.append(route.fetch())
            return route.abort()
        return route.fallback()

    live.context.route(f"{live.app}/api/messages", lose_the_first)
    panel.get_by_role("button", name="Reply").click()
    area, problem = panel.get_by_label("Reply to"), panel.locator("article form .problem")
    area.fill("Version one")
    area.press("Control+Enter")
    expect(problem).to_contain_text(DRAFT_SAVED)
    area.fill("Version two")
    area.press("Control+Enter")
    expect(panel.locator("article.reply .content")).to_have_text(["Version one"])
    expect(problem).to_have_text(words("en")["panel"]["earlier"])
    expect(area).to_have_value("Version two")
    expect(area).to_be_focused()
    area.press("Control+Enter")
    expect(panel.locator("article.reply .content")).to_have_text(["Version one", "Version two"])
    expect(area).to_have_count(0)
    expect(panel.locator("article.reply").last).to_be_focused()


def test_a_post_that_is_sent_twice_while_the_session_is_renewed_is_written_once(live: Live, ada: Account) -> None:
    live.context.clock.install()
    page, panel = live.open()
    sign_in(page, panel)
    page.clock.fast_forward(16 * 60_000)
    renewals, posts = live.intercept("/api/auth/panel-token"), live.intercept("/api/messages")
    write(panel, "Only once")
    panel.locator("#write").get_by_role("button", name="Post").click()
    live.wait_for_first(renewals).fallback()
    live.wait_for_first(posts).fallback()
    expect(panel.locator("article .content")).to_have_text(["Only once"])
    expect(panel.locator("#write form.busy")).to_have_count(0)
    panel.get_by_label("Write a post…").fill("The next")
    # A second request would have left the panel with the first.
    assert len(posts) == 1
    expect(panel.get_by_label("Write a post…")).to_have_value("The next")


def test_a_change_of_page_during_the_sign_in_sends_the_draft_of_neither_page(live: Live, ada: Account) -> None:
    add_post_of_each_page(live)
    page, panel = live.open()
    draft = panel.get_by_label("Write a post…")
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


def test_a_post_that_arrives_after_a_change_of_page_is_not_shown_there(live: Live, ada: Account) -> None:
    add_post_of_each_page(live)
    live.signed_in(ada)
    page, panel = live.open()
    posts = live.intercept("/api/messages")
    write(panel, "Mine")
    late = live.wait_for_first(posts)
    change_page(page, panel, TO_OTHER_PAGE)
    late.fallback()
    expect(panel.locator("#toast")).to_have_text(words("en")["panel"]["published"])
    expect(panel.locator("article .content")).to_have_text(["Of the other page"])
    page.evaluate(BACK)
    expect(panel.locator("article .content")).to_have_text(["Mine", "Of the first page"])


def test_idempotency_in_progress_is_retried(live: Live, ada: Account) -> None:
    live.signed_in(ada)
    _, panel = live.open()
    attempts = []

    def busy_once(route: Any) -> None:
        if route.request.method == "POST" and not attempts:
            attempts.append(1)
            return route.fulfill(status=409, json={"error": "idempotency_in_progress"}, headers={"retry-after": "1"})
        return route.fallback()

    live.context.route(f"{live.app}/api/messages", busy_once)
    write(panel, "Patience")
    expect(panel.locator("article .content")).to_have_text(["Patience"])


def test_drafts_survive_a_reload_and_are_separate_by_page(live: Live) -> None:
    page, panel = live.open()
    panel.get_by_label("Write a post…").fill("Half a thought")
    page.evaluate(TO_OTHER_PAGE)
    expect(panel.get_by_label("Write a post…")).to_have_value("")
    page.evaluate(BACK)
    expect(panel.get_by_label("Write a post…")).to_have_value("Half a thought")
    page.reload()
    page.locator("community-embed button.trigger").click()
    expect(panel.get_by_label("Write a post…")).to_have_value("Half a thought")


def test_a_post_deletes_no_draft_that_was_written_in_another_tab_meanwhile(live: Live, ada: Account) -> None:
    live.signed_in(ada)
    _, panel = live.open()
    other, others_panel = live.open()
    late = live.intercept("/api/messages")
    write(panel, "From one tab")
    route = live.wait_for_first(late)
    others_panel.get_by_label("Write a post…").fill("From the other tab")
    route.continue_()
    expect(panel.locator("article").first).to_contain_text("From one tab")
    expect(panel.get_by_label("Write a post…")).to_have_value("")
    live.context.unroute(f"{live.app}/api/messages")
    reopen(other)
    expect(others_panel.get_by_label("Write a post…")).to_have_value("From the other tab")


def test_counter_counts_code_points_and_empty_posts_are_not_sent(live: Live, ada: Account) -> None:
    live.signed_in(ada)
    _, panel = live.open()
    requests = live.respond("/api/messages", 500, {})
    write(panel, "   ")
    expect(panel.locator("#write .problem")).to_have_text("Write something first.")
    assert requests == []
    panel.get_by_label("Write a post…").fill("😀" * 19_999)
    expect(panel.locator(".counter")).to_have_text("1 character left")
    panel.get_by_label("Write a post…").fill("😀" * 20_001)
    expect(panel.locator(".counter")).to_have_text("1 character too many")


def test_blocked_sign_in_window_is_explained(live: Live) -> None:
    live.context.add_init_script("window.open = () => null")
    _, panel = live.open()
    panel.get_by_role("button", name="Sign in").click()
    expect(panel.locator("#toast")).to_have_text(words("en")["panel"]["popup_blocked"])


def test_sign_in_without_an_opener_is_explained_and_works_in_a_tab(live: Live, ada: Account) -> None:
    live.headers["cross-origin-opener-policy"] = "same-origin"
    page, panel = live.open()
    window = open_window(panel, page)
    expect(window.locator("#lost")).to_contain_text("open the discussion in a tab of its own")
    alone = live.open_alone()
    submit(open_window(alone, page), "login", handle="ada", password=PASSWORD)
    expect(alone.locator("#account")).to_contain_text("Signed in as Ada Lovelace")


def test_signing_out_deletes_the_session(live: Live, ada: Account) -> None:
    live.signed_in(ada)
    page, panel = live.open()
    panel.get_by_role("button", name="Sign out").click()
    expect(panel.locator("#account")).to_have_text(re.compile("^Sign in to post"))
    assert panel_frame(page).evaluate("sessionStorage.getItem('session')") is None


def test_refused_reaction_is_explained(live: Live, ada: Account) -> None:
    live.message()
    live.signed_in(ada)
    _, panel = live.open()
    live.respond("/v1/reactions", 429, {"error": "rate_limited"}, Retry_After="5")
    panel.get_by_role("button", name="React").click()
    panel.get_by_role("button", name="👍").click()
    expect(panel.locator("#toast")).to_contain_text("Try again in 5 seconds")
