"""The admin in a browser, on a narrow and a wide screen, by mouse and by keyboard."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from agents.models import Agent, AgentRequest, AgentToken
from messaging.models import Account, Message
from tests.account_area.conftest import sign_in
from tests.admin.pages import page as path_of
from tests.agents.factories import RequestFactory, TokenHolder, agent_with_token
from tests.browser import PATIENCE_MS
from tests.embeds.making import an_embed
from tests.factories import CommunityFactory, MessageFactory, PersonFactory, SuperAdminFactory

pytestmark = [pytest.mark.slow, pytest.mark.processes, pytest.mark.browser, pytest.mark.django_db(transaction=True)]
PASSWORD = "correct horse battery"
INLINE = "script:not([src]):not([type='application/json']), [onclick], [onload], [style]:not(html)"
PHONE, WIDE = {"width": 390, "height": 844}, {"width": 1440, "height": 900}
widths = pytest.mark.parametrize("screen", [PHONE, WIDE], ids=["phone", "wide"], indirect=True)


@pytest.fixture
def screen(request: Any) -> dict[str, int]:
    return getattr(request, "param", WIDE)


@pytest.fixture
def boss(transactional_db: Any) -> Account:
    return SuperAdminFactory(handle="the_boss", password=PASSWORD)


@pytest.fixture
def context(browser: Browser, live_server: Any, screen: dict[str, int]) -> Iterator[BrowserContext]:
    """An error in the console fails the test."""
    context = browser.new_context(viewport=screen, base_url=live_server.url, locale="en-GB")
    context.set_default_timeout(PATIENCE_MS)
    errors: list[str] = []
    context.on("weberror", lambda error: errors.append(str(error.error)))
    context.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    yield context
    context.close()
    assert not errors


@pytest.fixture
def page(context: BrowserContext, live_server: Any, boss: Account) -> Page:
    """A browser page with the session of the super admin."""
    sign_in(context, live_server.url, boss)
    return context.new_page()


def expect_message(page: Page, text: str) -> None:
    expect(page.locator(".messagelist")).to_contain_text(text)


def fits_the_width(page: Page) -> bool:
    """Whether the page has no horizontal scroll bar."""
    return bool(page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"))


@widths
def test_who_signs_in_by_the_form_gets_to_the_overview(context: BrowserContext, boss: Account) -> None:
    page = context.new_page()
    page.goto("/admin/")
    page.get_by_label("Handle").fill(boss.handle)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()


@widths
def test_deciding_a_request_opens_the_next_pending_one(page: Page, boss: Account) -> None:
    granted, denied = CommunityFactory(name="Granted"), CommunityFactory(name="Denied")
    first = RequestFactory(agent_handle="first_agent", community_ids=[granted.pk, denied.pk])
    second = RequestFactory(agent_handle="second_agent")
    page.goto("/admin/")
    page.get_by_role("link", name="2 agent requests").click()
    page.get_by_role("link", name="@first_agent").click()
    expect(page.get_by_role("button", name="Approve")).to_be_in_viewport()
    page.get_by_label("quote posts").uncheck()
    page.get_by_label("Denied").uncheck()
    page.get_by_label("Reason").fill("Useful, in part.")
    assert fits_the_width(page)
    page.get_by_role("button", name="Approve").click()
    expect_message(page, "@first_agent for @person")
    expect(page.get_by_role("heading", name="@second_agent: decide")).to_be_visible()
    page.get_by_label("Reason").fill("Not here.")
    page.get_by_role("button", name="Reject").click()
    expect_message(page, "rejected")
    expect(page.get_by_role("heading", name="Agent requests")).to_be_visible()
    first.refresh_from_db()
    second.refresh_from_db()
    assert (first.status, second.status) == ("approved", "rejected")
    agent = Agent.objects.get()
    assert (agent.scopes, agent.community_ids) == (["post", "reply", "react"], [granted.pk])


@widths
def test_reject_requires_a_reason(page: Page) -> None:
    agent_request = RequestFactory()
    page.goto(path_of(agent_request, "reject"))
    page.get_by_role("button", name="Reject").click()
    assert page.get_by_label("Reason").evaluate("field => field.validity.valueMissing")
    agent_request.refresh_from_db()
    assert agent_request.status == "pending"


@widths
def test_freeze_narrow_and_revoke_an_agent(page: Page) -> None:
    holder = agent_with_token(agent_handle="loud_agent")

    def is_valid(holder: TokenHolder = holder) -> bool:
        return holder.api.get("/v1/agent/self").status == 200

    assert is_valid()
    page.goto(path_of(Agent, "changelist"))
    page.get_by_role("link", name="@loud_agent").click()
    page.get_by_label("Reason").fill("A flood of posts.")
    page.get_by_role("button", name="Freeze").click()
    expect_message(page, "@loud_agent: frozen.")
    assert not is_valid()
    page.get_by_role("button", name="Unfreeze").click()
    expect_message(page, "@loud_agent: unfrozen.")
    assert is_valid()
    page.get_by_role("link", name="Narrow…").click()
    page.get_by_label("write posts").uncheck()
    page.get_by_label("Reason").fill("Too loud.")
    page.get_by_role("button", name="Narrow").click()
    expect_message(page, "@loud_agent: narrowed.")
    assert "post" not in holder.api.get("/v1/agent/self").json["scopes"]
    page.get_by_role("link", name=f"Revoke {holder.token}").click()
    page.get_by_label("Reason").fill("Lost.")
    page.get_by_role("button", name="Revoke").click()
    expect_message(page, "revoked.")
    assert not is_valid()


@pytest.mark.journey
@widths
def test_moderate_one_post_and_several_at_once(page: Page) -> None:
    messages = [MessageFactory(status="pending", content=f"Waiting {n} <b>bold</b>") for n in range(3)]
    page.goto("/admin/")
    page.get_by_role("link", name="3 posts to moderate").click()
    page.get_by_role("link", name="Waiting 0 <b>bold</b>").click()
    page.get_by_role("button", name="Approve").click()
    expect_message(page, "approved.")
    expect(page.locator(".field-text")).to_contain_text("Waiting 1 <b>bold</b>")
    page.goto(f"{path_of(Message, 'changelist')}?status__exact=pending")
    page.get_by_role("checkbox", name="Select all").check()
    page.get_by_role("combobox", name="Action").select_option("Hide")
    page.get_by_role("button", name="Go").click()
    expect(page.get_by_role("heading", name="Hide: 2 chosen")).to_be_visible()
    page.get_by_label("Reason").fill("Off topic.")
    page.get_by_role("button", name="Hide").click()
    expect_message(page, "2 messages: hidden.")
    assert [Message.objects.get(pk=one.pk).status for one in messages] == ["published", "hidden", "hidden"]


@widths
def test_approve_by_keyboard_only(page: Page) -> None:
    agent_request = RequestFactory()
    page.goto(path_of(agent_request))
    tab_to(page, "write posts")
    page.keyboard.press("Space")
    tab_to(page, "Approve")
    page.keyboard.press("Enter")
    expect_message(page, "approved.")
    assert Agent.objects.get().scopes == ["reply", "quote", "react"]


def tab_to(page: Page, name: str) -> None:
    """Press Tab until the element with this label has the focus; it must have a visible focus style."""
    focused = "document.activeElement"
    label = f"(({focused}.labels?.[0] ?? {focused}).textContent || {focused}.value).trim()"
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate(label) == name:
            style = f"['outlineStyle', 'backgroundColor'].map(name => getComputedStyle({focused})[name])"
            assert page.evaluate(style) != ["none", "rgba(0, 0, 0, 0)"]
            return
    pytest.fail(f"Tab never reached {name}")


def test_word_list_trial_marks_the_match(page: Page) -> None:
    page.goto(path_of(CommunityFactory(blocked_words=["spam*"])))
    page.get_by_label("Text").fill("No antispam, but spammers.")
    page.get_by_role("button", name="Try").click()
    expect(page.locator("mark")).to_have_text(["spam"])
    expect(page.get_by_label("Text")).to_have_value("No antispam, but spammers.")


@widths
def test_pages_fit_the_width_and_have_no_inline_scripts_or_styles(page: Page, screen: dict[str, int]) -> None:
    long_handle = "w" * 30
    holder = agent_with_token(
        agent_handle=long_handle, agent_name="A name of sixty characters, which is as long as it can get"
    )
    holder.api.get("/v1/agent-tokens")
    request = RequestFactory(
        requester=holder.request.requester,
        agent_handle="w" * 29,
        purpose="p" * 2000,
        website="https://example.com/" + "x" * 2000,
        community_ids=[CommunityFactory(name="c" * 120).pk],
    )
    message = MessageFactory(
        author=holder.agent.account, content="m" * 5000, tag_type="claim", payload={"statement": "s" * 999}
    )
    rows = (
        request,
        holder.request,
        holder.agent,
        holder.token,
        message,
        an_embed(name="e" * 120),
        PersonFactory(),
    )
    pages = [
        "/admin/",
        *(path_of(row) for row in rows),
        path_of(request, "approve"),
        path_of(holder.agent, "narrow"),
    ]
    pages += [path_of(model, "changelist") for model in (AgentRequest, Agent, AgentToken, Message, Account)]
    for path in pages:
        page.goto(path)
        assert fits_the_width(page), path
        assert page.locator(INLINE).count() == 0, path
