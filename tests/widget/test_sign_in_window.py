"""The sign-in window of a panel: a code of persons with a second factor, and presses in the panel meanwhile."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest
from allauth.account.models import EmailAddress
from playwright.sync_api import expect

from embeds.widget.locales import words
from messaging.models import Account, PostsChoice
from messaging.privacy.erasing import request_erasure
from tests.account_area.conftest import sign_in as sign_in_to_account_area
from tests.account_area.second_factors import add_app, code_of, recovery_codes_of
from tests.factories import PersonFactory
from tests.widget.live import PASSWORD, Live
from tests.widget.sign_in import enter, open_window
from tests.widget.test_accessibility import violations_of_state
from tests.widget.test_panel_own import write

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.slow, pytest.mark.processes, pytest.mark.browser, pytest.mark.django_db(transaction=True)]
ERRORS = words("en")["error"]


def send_password(window: Page, handle: str = "ada", password: str = PASSWORD) -> None:
    enter(window.locator("#handle"), handle)
    enter(window.locator("#password"), password)
    window.locator("#password").press("Enter")


def expect_problem(window: Page, code: str, focused: str) -> None:
    expect(window.locator("#login [role=alert]")).to_have_text(ERRORS[code])
    expect(window.locator(f"#{focused}")).to_be_focused()


def test_a_person_with_a_second_factor_signs_in_with_a_code_or_a_recovery_code(live: Live, ada: Account) -> None:
    secret = add_app(ada)
    panel = live.open_alone()
    window = open_window(panel, panel)
    expect(window.locator("#handle")).to_be_focused()
    expect(window.locator("#code")).to_be_hidden()
    send_password(window)
    expect_problem(window, "second_factor_required", "code")
    assert violations_of_state(window) == []
    window.locator("#code").fill("000000")
    window.keyboard.press("Enter")
    expect_problem(window, "invalid_second_factor", "code")
    for code in (code_of(secret), recovery_codes_of(ada)[0]):
        window.locator("#code").fill(code)
        with window.expect_event("close"):
            window.keyboard.press("Enter")
        expect(panel.locator("#account")).to_contain_text("Signed in as Ada Lovelace")
        panel.get_by_role("button", name="Sign out").click()
        window = open_window(panel, panel)
        send_password(window)
        expect_problem(window, "second_factor_required", "code")
    assert live.errors == []


def test_after_a_code_was_asked_for_a_wrong_password_leads_back_to_it_and_others_are_not_asked(
    live: Live, ada: Account
) -> None:
    secret = add_app(ada)
    PersonFactory(handle="grace", name="Grace Hopper", password=PASSWORD)
    leaving = PersonFactory(handle="leaving", password=PASSWORD)
    request_erasure(person=leaving, posts=PostsChoice.ANONYMOUS, by=leaving)
    panel = live.open_alone()
    window = open_window(panel, panel)
    send_password(window)
    expect(window.locator("#code")).to_be_visible()
    window.locator("#code").fill(code_of(secret))
    window.locator("#password").fill("another passphrase")
    window.keyboard.press("Enter")
    expect_problem(window, "invalid_credentials", "password")
    send_password(window, handle="leaving")
    expect_problem(window, "account_being_erased", "password")
    send_password(window)
    expect(window.locator("#code")).to_be_visible()
    with window.expect_event("close"):
        send_password(window, handle="grace")
    expect(panel.locator("#account")).to_contain_text("Signed in as Grace Hopper")


def test_window_without_the_common_styles_has_one_form_and_a_later_press_opens_no_other(
    live: Live, ada: Account
) -> None:
    """The session of the panel begins a moment after the window has closed.

    The common styles are missing. Those of the window are applied before or without them: a browser loads each file by
    itself, and one form is shown.
    """
    live.context.route(f"{live.app}/static/embed/base.*css", lambda route: route.abort())
    held = live.intercept("/api/auth/panel-session")
    opened: list[Page] = []
    panel = live.open_alone()
    window = open_window(panel, panel)
    expect(window.locator("#handle")).to_be_visible()
    expect(window.get_by_role("button", name="Create an account")).to_have_count(1)
    with window.expect_event("close"):
        send_password(window)
    live.context.on("page", lambda page: opened.append(page))  # noqa: PLW0108
    write(panel, "At once")
    live.wait_for_first(held).continue_()
    # A window would have been opened by the press, before the post was sent.
    expect(panel.locator("article .content")).to_have_text("At once")
    assert opened == []
    assert live.errors == []


# Presses the button in the moment in which it is shown, as a key that was held in the panel does.
HASTY = """
addEventListener("DOMContentLoaded", () => {
  const press = () => {
    const button = document.getElementById("continue");
    if (!button?.offsetParent || window.pressedAt) return;
    window.pressedAt = performance.now();
    button.click();
  };
  new MutationObserver(press).observe(document, { attributes: true, childList: true, subtree: true });
});
"""


def test_a_key_that_is_held_grants_nothing_and_the_window_names_the_site(live: Live, ada: Account) -> None:
    sign_in_to_account_area(live.context, live.app, ada)
    page, panel = live.open()
    live.context.add_init_script(HASTY)
    window = open_window(panel, page)
    button = window.get_by_role("button", name="Continue as Ada Lovelace")
    expect(button).to_be_visible()
    expect(window.get_by_role("heading", name="Sign in")).to_be_focused()
    expect(window.locator("#site")).to_have_text(f"To write on {urlsplit(live.url).netloc}")
    assert violations_of_state(window) == []
    for _ in range(3):
        window.keyboard.down("Enter")
    window.keyboard.up("Enter")
    # A press after a second is meant. The ones before it have done nothing, or the window would be closed.
    assert window.evaluate("window.pressedAt") > 0
    window.evaluate("new Promise(done => setTimeout(done, window.pressedAt + 1500 - performance.now()))")
    expect(panel.locator("#account")).not_to_contain_text("Ada Lovelace")
    with window.expect_event("close"):
        button.click()
    expect(panel.locator("#account")).to_contain_text("Signed in as Ada Lovelace")
    assert live.errors == []


def test_a_panel_of_its_own_names_no_site(live: Live, ada: Account) -> None:
    panel = live.open_alone()
    window = open_window(panel, panel)
    expect(window.locator("#handle")).to_be_focused()
    expect(window.locator("#site")).to_be_hidden()


def test_a_person_signs_in_with_a_mail_address_on_the_page_and_continues_in_the_panel(live: Live, ada: Account) -> None:
    EmailAddress.objects.create(user=ada, email="ada@example.com", verified=True, primary=True)
    panel = live.open_alone()
    window = open_window(panel, panel)
    expect(window.locator("#handle")).to_be_focused()
    expect(window.locator("#ways")).to_have_text("With a mail address or a passkey")
    assert violations_of_state(window) == []
    with live.context.expect_page() as opened:
        window.locator("#ways").click()
    opened.value.close()
    with live.context.expect_page() as opened:
        send_password(window, "ada@example.com")
    page = opened.value
    expect(page.get_by_label("Handle or mail address")).to_have_value("ada@example.com")
    # The browser of the tests gives the focus to every page at once.
    window.evaluate("dispatchEvent(new Event('focus'))")
    expect(window.locator("#handle")).to_be_visible()
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url("**/account/")
    window.evaluate("dispatchEvent(new Event('focus'))")
    button = window.get_by_role("button", name="Continue as Ada Lovelace")
    expect(button).to_be_enabled()
    expect(window.locator("#handle")).to_be_hidden()
    with window.expect_event("close"):
        button.click()
    expect(panel.locator("#account")).to_contain_text("Signed in as Ada Lovelace")
    assert live.errors == []
