"""The admin in a browser, by mouse and by keyboard, on a wide screen. `tests/desk/browser` uses it on a phone."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import pairwise, product
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from agents.models import Agent, AgentRequest, AgentToken
from messaging.models import Account, BulkJob, Message, Report
from messaging.moderation.bulk_jobs import start_job
from messaging.moderation.lists.running import run_to_end
from messaging.moderation.services import approve_message, return_to_review
from tests.account_area.conftest import sign_in
from tests.admin.pages import page as path_of
from tests.agents.factories import RequestFactory, TokenHolder, agent_with_token
from tests.api import Api
from tests.browser import PATIENCE_MS
from tests.embeds.making import an_embed
from tests.factories import CommunityFactory, MessageFactory, PersonFactory, SuperAdminFactory
from tests.widget.live import intercept, wait_for_first

pytestmark = [pytest.mark.slow, pytest.mark.processes, pytest.mark.browser, pytest.mark.django_db(transaction=True)]
PASSWORD = "correct horse battery"
INLINE = "script:not([src]):not([type='application/json']), [onclick], [onload], [style]:not(html)"
PHONE, WIDE = {"width": 390, "height": 844}, {"width": 1440, "height": 900}
on_a_phone = pytest.mark.parametrize("screen", [PHONE], ids=["phone"], indirect=True)
PENDING = "?status__exact=pending"
# Routed before the page is opened: the next request of an open page may miss a new route.
DECIDE = "**/decide/**"
# Enter while an input method composes a word.
COMPOSED = "{ key: 'Enter', isComposing: true, bubbles: true, cancelable: true }"


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


@pytest.fixture
def apart(request: Any, browser: Browser, live_server: Any, page: Page) -> Iterator[Page]:
    """A page whose console is not looked at, as a browser logs each 409; `request.param`: with scripts."""
    context = browser.new_context(
        base_url=live_server.url,
        storage_state=page.context.storage_state(),
        viewport=page.viewport_size,
        java_script_enabled=getattr(request, "param", True),
    )
    yield context.new_page()
    context.close()


def expect_message(page: Page, text: str) -> None:
    expect(page.locator(".messagelist")).to_contain_text(text)


def fits_the_width(page: Page) -> bool:
    """Whether the page has no horizontal scroll bar, neither on a phone nor on a wide screen."""
    size, fits = page.viewport_size, []
    for each in (PHONE, WIDE, size):
        page.set_viewport_size(each)  # type: ignore[arg-type]
        fits.append(page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"))
    return all(fits)


def test_who_signs_in_by_the_form_gets_to_the_overview(context: BrowserContext, boss: Account) -> None:
    page = context.new_page()
    page.goto("/admin/")
    page.get_by_label("Handle").fill(boss.handle)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()


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


def test_reject_requires_a_reason(page: Page) -> None:
    agent_request = RequestFactory()
    page.goto(path_of(agent_request, "reject"))
    page.get_by_role("button", name="Reject").click()
    assert page.get_by_label("Reason").evaluate("field => field.validity.valueMissing")
    agent_request.refresh_from_db()
    assert agent_request.status == "pending"


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


def test_approve_by_keyboard_only(page: Page) -> None:
    agent_request = RequestFactory()
    page.goto(path_of(agent_request))
    tab_to(page, "write posts")
    page.keyboard.press("Space")
    tab_to(page, "Approve A")
    page.keyboard.press("Enter")
    expect_message(page, "granted: reply, quote, react in every community.")
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


def test_pages_fit_the_width_and_have_no_inline_scripts_or_styles(page: Page) -> None:
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
    rows = (request, holder.request, holder.agent, holder.token, message, an_embed(name="e" * 120), PersonFactory())
    pages = ["/admin/", *map(path_of, rows), path_of(request, "approve"), path_of(holder.agent, "narrow")]
    pages += [path_of(model, "changelist") for model in (AgentRequest, Agent, AgentToken, Message, Account)]
    for path in pages:
        page.goto(path)
        assert fits_the_width(page), path
        assert page.locator(INLINE).count() == 0, path


def expect_current(page: Page, name: str) -> None:
    expect(page.locator(".decision-name")).to_have_text(name)


@pytest.mark.journey
def test_keys_move_narrow_and_undo(page: Page) -> None:
    first, second = RequestFactory(agent_handle="first_one"), RequestFactory(agent_handle="second_one")
    page.goto(path_of(AgentRequest, "changelist") + PENDING)
    expect_current(page, str(first))
    page.keyboard.press("j")
    expect_current(page, str(second))
    page.keyboard.press("k")
    expect_current(page, str(first))
    page.keyboard.press("?")
    expect(page.locator("#decision-keys")).to_be_visible()
    page.keyboard.press("o")
    page.get_by_role("row", name="@first_one").get_by_label("quote posts").uncheck()
    page.keyboard.press("a")
    expect_current(page, str(second))
    assert Agent.objects.get().scopes == ["post", "reply", "react"]
    page.keyboard.press("u")
    expect(page.locator(".decision-done")).to_contain_text("pending again")
    expect_current(page, str(first))
    assert not Agent.objects.exists()
    page.keyboard.press("r")
    page.keyboard.press("1")
    page.get_by_label("Reason").press("End")
    page.keyboard.type(" Thank you.")
    page.keyboard.press("Enter")
    expect_current(page, str(second))
    first.refresh_from_db()
    assert first.reason.endswith("ask again. Thank you.")


def test_enter_in_the_reason_of_a_page_decides_nothing(page: Page) -> None:
    rows = [RequestFactory(), MessageFactory(status="pending", community=CommunityFactory())]
    for row in rows:
        page.goto(path_of(row))
        page.get_by_label("Reason", exact=True).fill("Imitates another.")
        page.get_by_label("Reason", exact=True).press("Enter")
        page.get_by_role("button", name="Approve").focus()
        row.refresh_from_db()
        assert row.status == "pending"
        assert page.url.endswith(path_of(row))


def test_a_key_that_composes_a_word_decides_nothing(page: Page) -> None:
    first, _second = RequestFactory(agent_handle="first_one"), RequestFactory(agent_handle="second_one")
    page.goto(path_of(AgentRequest, "changelist") + PENDING)
    expect_current(page, str(first))
    reason = page.get_by_label("Reason", exact=True)
    reason.fill("Imit")
    reason.evaluate(f"field => field.dispatchEvent(new KeyboardEvent('keydown', {COMPOSED}))")
    reason.fill("Imitates another.")
    reason.press("Enter")
    expect(page.locator(".decision-done")).to_contain_text(f"{first}: ")
    first.refresh_from_db()
    assert first.reason == "Imitates another."


@on_a_phone
def test_a_request_for_every_community_is_narrowed_in_the_list(page: Page) -> None:
    chosen = CommunityFactory(name="Chosen")
    CommunityFactory(name="Other")
    RequestFactory(agent_handle="first_one")
    page.goto(path_of(AgentRequest, "changelist") + PENDING)
    page.keyboard.press("o")
    page.get_by_label("Communities; none: every community").select_option("Chosen")
    page.get_by_role("region", name="Decide on the current row").get_by_role("button", name="Approve").click()
    expect(page.get_by_text("0 agent requests", exact=True)).to_be_visible()
    assert Agent.objects.get().community_ids == [chosen.pk]


def test_the_bar_is_always_visible_and_the_pages_fit(page: Page) -> None:
    communities = [CommunityFactory(name="c" * 100).pk, CommunityFactory().pk]
    for n in range(12):
        RequestFactory(agent_handle="w" * 27 + f"{n:02}", purpose="p" * 2000, community_ids=communities)
    MessageFactory.create_batch(12, status="pending", content="m" * 3000, community=CommunityFactory())
    for model, size in product((AgentRequest, Message), (PHONE, WIDE)):
        page.set_viewport_size(size)  # type: ignore[arg-type]
        page.goto(path_of(model, "changelist") + PENDING)
        expect(page.locator(".decision-bar .row-action-approve")).to_be_in_viewport()
        page.locator("details.review > summary").first.click()
        assert fits_the_width(page), model
        assert page.locator(INLINE).count() == 0
        page.mouse.wheel(0, 400)
        expect(page.locator(".decision-bar .row-action-approve")).to_be_in_viewport()
        row = model.objects.earliest("created_at")
        page.goto(path_of(row))
        for name in ("Approve", "Reject" if isinstance(row, AgentRequest) else "Hide"):
            expect(page.get_by_role("button", name=name)).to_be_in_viewport()
        assert fits_the_width(page), row


def test_no_column_lies_under_the_buttons_at_1440(page: Page) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    requester, community = PersonFactory(handle="w" * 30), CommunityFactory(name="c" * 100)
    for n in range(2):
        RequestFactory(
            requester=requester, agent_handle="harbour_" + "w" * 18 + f"{n:02}", purpose="Harbour news. " * 20
        )
    MessageFactory(author=requester, community=community, status="pending", content="m" * 300)
    for model in (AgentRequest, Message):
        page.goto(path_of(model, "changelist") + PENDING)
        expect(page.locator(".current-row")).to_be_visible()
        hidden = page.locator("#result_list > tbody > tr").evaluate_all(
            """rows => rows.flatMap(row => {
                const left = row.querySelector(".field-decide").getBoundingClientRect().left;
                return [...row.children].filter(cell => !cell.matches(".field-decide")
                    && cell.getBoundingClientRect().right > left + 1).map(cell => cell.className);
            })"""
        )
        assert hidden == []


def test_decisions_are_undone_one_after_the_other_for_thirty_seconds(page: Page) -> None:
    requests = [RequestFactory(agent_handle=f"agent_{n}") for n in range(4)]
    page.clock.install(time=0)
    page.goto(path_of(AgentRequest, "changelist") + PENDING)
    page.clock.pause_at(3_600)
    undo = page.locator(".decision-undo")
    for request, following in pairwise(requests[:3]):
        page.keyboard.press("a")
        expect(page.locator(".decision-done")).to_contain_text(f"{request}: ")
        expect_current(page, str(following))
    for request in reversed(requests[:2]):
        expect(undo).to_be_visible()
        page.keyboard.press("u")
        expect_current(page, str(request))
        expect(page.locator(".decision-done")).to_contain_text("pending again")
    expect(undo).to_be_hidden()
    assert not Agent.objects.exists()
    page.keyboard.press("a")
    expect(undo).to_be_visible()
    page.clock.run_for(29_900)
    expect(undo).to_be_visible()
    page.clock.run_for(200)
    expect(undo).to_be_hidden()


def test_a_key_that_is_held_decides_once_and_moves_on(page: Page) -> None:
    requests = [RequestFactory(agent_handle=f"agent_{n}") for n in range(4)]
    page.goto(path_of(AgentRequest, "changelist") + PENDING)
    expect_current(page, str(requests[0]))
    page.keyboard.down("a")
    expect_current(page, str(requests[1]))
    page.keyboard.down("a")
    # A second decision would have replaced this text at once.
    assert f"{requests[0]}: " in page.locator(".decision-done").inner_text()
    page.keyboard.up("a")
    page.keyboard.down("j")
    page.keyboard.down("j")
    expect_current(page, str(requests[3]))
    assert Agent.objects.count() == 1


def test_a_late_answer_does_not_move_the_selection_from_a_row_chosen_meanwhile(page: Page) -> None:
    requests = [RequestFactory(agent_handle=f"agent_{n}") for n in range(4)]
    late = intercept(page.context, DECIDE)
    page.goto(path_of(AgentRequest, "changelist") + PENDING)
    expect_current(page, str(requests[0]))
    page.keyboard.press("a")
    answer = wait_for_first(page.context, late)
    page.keyboard.press("j")
    page.keyboard.press("j")
    expect_current(page, str(requests[2]))
    answer.fallback()
    expect(page.locator(".decision-done")).to_contain_text(f"{requests[0]}: ")
    expect_current(page, str(requests[2]))


def test_the_list_is_loaded_again_after_the_last_decision_whichever_row_is_current(page: Page) -> None:
    first, second = RequestFactory(agent_handle="first_one"), RequestFactory(agent_handle="second_one")
    late = intercept(page.context, DECIDE)
    page.goto(path_of(AgentRequest, "changelist") + PENDING)
    expect_current(page, str(first))
    page.keyboard.press("a")
    wait_for_first(page.context, late).fallback()
    expect_current(page, str(second))
    late.clear()
    page.keyboard.press("a")
    answer = wait_for_first(page.context, late)
    page.keyboard.press("k")
    expect_current(page, str(first))
    answer.fallback()
    expect(page.get_by_text("0 agent requests", exact=True)).to_be_visible()


def test_the_purpose_is_whole_under_the_pointer_the_focus_and_in_the_current_row(page: Page) -> None:
    handles = ("harbour_guide", "gazette_reader", "market_poet")
    requests = [RequestFactory(agent_handle=handle, purpose="Harbour news. " * 20) for handle in handles]
    page.goto(path_of(AgentRequest, "changelist") + PENDING)
    first, second, third = (page.get_by_role("row", name=f"@{one.agent_handle}") for one in requests)
    expect(first.locator(".purpose-whole")).to_be_visible()
    expect(second.locator(".purpose-whole")).to_be_hidden()
    page.keyboard.press("j")
    expect(second.locator(".purpose-whole")).to_be_visible()
    expect(second.locator(".purpose-start")).to_be_hidden()
    expect(first.locator(".purpose-whole")).to_be_hidden()
    third.locator("summary").hover()
    expect(third.locator(".purpose-whole")).to_be_visible()
    page.mouse.move(0, 0)
    expect(third.locator(".purpose-whole")).to_be_hidden()
    # From the handle, the next stop is the summary.
    third.get_by_role("link", name="@market_poet").focus()
    page.keyboard.press("Tab")
    expect(third.locator(".purpose-whole")).to_be_visible()


@on_a_phone
def test_posts_are_decided_in_their_list(page: Page) -> None:
    first = MessageFactory(status="pending", content="First words")
    second = MessageFactory(status="pending", content="Second words")
    page.goto(path_of(Message, "changelist") + PENDING)
    page.get_by_role("region", name="Decide on the current row").get_by_role("button", name="Hide").click()
    page.get_by_label("Reason").fill("Rude.")
    page.keyboard.press("Enter")
    expect(page.locator(".decision-done")).to_contain_text("hidden")
    page.keyboard.press("u")
    expect(page.locator(".decision-done")).to_contain_text("as before")
    page.keyboard.press("a")
    expect(page.locator(".decision-done")).to_contain_text("approved")
    assert [Message.objects.get(pk=one.pk).status for one in (first, second)] == ["published", "pending"]


def test_a_key_does_not_approve_a_text_that_came_after_the_list(apart: Page) -> None:
    message = MessageFactory(status="pending", updated_at=datetime(2026, 5, 1, tzinfo=UTC))
    apart.goto(path_of(Message, "changelist") + PENDING)
    expect_current(apart, f"Post of {message.author}")
    assert Api.as_person(message.author).put(f"/api/messages/{message.pk}", {"content": "Later"}).status == 200
    apart.keyboard.press("a")
    expect(apart.locator(".decision-done")).to_contain_text("message edited")
    assert Message.objects.get(pk=message.pk).status == "pending"
    apart.reload()
    expect(apart.locator(".field-excerpt")).to_have_text("Later")
    apart.keyboard.press("a")
    expect(apart.locator("#changelist")).not_to_contain_text("Later")
    assert Message.objects.get(pk=message.pk).status == "published"


def test_a_key_does_not_undo_the_later_decision_of_another_moderator(apart: Page) -> None:
    first, second = MessageFactory.create_batch(2, status="pending")
    apart.goto(path_of(Message, "changelist") + PENDING)
    expect_current(apart, f"Post of {first.author}")
    apart.keyboard.press("a")
    expect_current(apart, f"Post of {second.author}")
    return_to_review(message_id=first.pk, by=SuperAdminFactory())
    approve_message(message_id=first.pk, by=SuperAdminFactory())
    apart.keyboard.press("u")
    expect(apart.locator(".decision-done")).to_contain_text("message state changed (status: published)")
    assert Message.objects.get(pk=first.pk).status == "published"


def test_a_dismissal_of_reports_is_undone_by_a_key(page: Page) -> None:
    for _ in range(2):
        Report.objects.create(message=MessageFactory(), reporter=PersonFactory(), reason="spam")
    page.goto(path_of(Message, "changelist") + "?reports=open")
    page.locator(".current-row").wait_for()
    page.keyboard.press("d")
    expect(page.locator(".decision-done")).to_contain_text("reports dismissed")
    assert Report.objects.filter(closed_at=None).count() == 1
    page.keyboard.press("u")
    expect(page.locator(".decision-done")).to_contain_text("reports are open again")
    assert Report.objects.filter(closed_at=None).count() == 2


def test_the_page_of_a_job_shows_its_progress(page: Page, boss: Any) -> None:
    ids = [request.pk for request in RequestFactory.create_batch(5)]
    job = start_job(kind="agents.agentrequest:reject", label="Reject 5", ids=ids, by=boss, reason="Spam.")
    page.goto(path_of(job))
    expect(page.locator(".job-text")).to_have_text("0 of 5 done")
    run_to_end(job.pk)
    expect(page.get_by_text("5 of 5 done")).to_be_visible()
    expect(page.get_by_role("link", name="Undo…")).to_be_visible()
    assert BulkJob.objects.get().state == "finished"


@on_a_phone
@pytest.mark.parametrize("apart", [False], indirect=True, ids=["without scripts"])
def test_without_scripts_the_buttons_of_the_rows_decide(apart: Page) -> None:
    requester = PersonFactory()
    first, second = (RequestFactory(requester=requester, agent_handle=handle) for handle in ("first_one", "second_one"))
    apart.goto(path_of(AgentRequest, "changelist") + PENDING)
    apart.get_by_role("button", name="Approve @first_one").click()
    expect(apart.locator(".messagelist")).to_contain_text("approved")
    assert apart.url.endswith(f"{PENDING}#row-{second.pk}")
    apart.get_by_role("button", name="Undo").click()
    expect(apart.locator(".messagelist")).to_contain_text("pending again")
    first.refresh_from_db()
    assert first.status == "pending"


def test_the_last_decision_is_undone_after_the_list_is_empty(page: Page) -> None:
    request = RequestFactory(agent_handle="only_one")
    page.goto(path_of(AgentRequest, "changelist") + PENDING)
    expect_current(page, str(request))
    page.keyboard.press("a")
    expect(page.locator(".recent-decision")).to_contain_text(f"{request}: approved")
    page.keyboard.press("u")
    expect(page.locator(".messagelist")).to_contain_text("pending again")
    request.refresh_from_db()
    assert request.status == "pending"


def test_the_keys_of_the_list_decide_on_the_page_of_a_request(page: Page) -> None:
    first, second = RequestFactory(agent_handle="first_one"), RequestFactory(agent_handle="second_one")
    page.goto(path_of(first))
    page.keyboard.press("r")
    expect(page.get_by_label("Reason", exact=True)).to_be_focused()
    page.keyboard.type("a u r")
    page.get_by_role("heading", level=1).click()
    page.keyboard.press("r")
    page.wait_for_url(f"**{path_of(second)}**")
    page.keyboard.press("u")
    page.wait_for_url(f"**{path_of(first)}**")
    page.keyboard.press("a")
    page.wait_for_url(f"**{path_of(second)}**")
    for row in (first, second):
        row.refresh_from_db()
    assert (first.status, second.status) == ("approved", "pending")


def test_the_current_row_has_the_focus_and_its_buttons_are_in_the_bar(page: Page) -> None:
    first, second = RequestFactory(agent_handle="first_one"), RequestFactory(agent_handle="second_one")
    page.goto(path_of(AgentRequest, "changelist") + PENDING)
    expect_current(page, str(first))
    page.keyboard.press("j")
    row = page.get_by_role("row", name="@second_one")
    expect(row).to_be_focused()
    expect(row).to_have_attribute("aria-current", "true")
    expect(page.locator("[aria-current=true][tabindex]")).to_have_count(1)
    expect(row.get_by_role("button", name=f"Approve {second}")).to_be_hidden()
    # A row that is not current is decided by one click.
    other = page.get_by_role("row", name="@first_one")
    other.hover()
    other.get_by_role("button", name="Approve").click()
    expect(page.locator(".decision-done")).to_contain_text(f"{first}: approved")


@on_a_phone
def test_a_list_begins_high_on_a_phone_and_its_filters_are_a_sheet(page: Page) -> None:
    MessageFactory.create_batch(3, status="pending")
    page.goto(path_of(Message, "changelist") + PENDING)
    bar = page.locator(".decision-bar")
    expect(bar).to_be_visible()
    assert page.locator("#result_list tbody tr").first.bounding_box()["y"] < 240  # type: ignore[index]
    assert bar.bounding_box()["height"] < 70  # type: ignore[index]
    page.get_by_text("Filters", exact=True).click()
    hidden = page.get_by_role("link", name="Hidden (0)")
    expect(hidden).to_be_in_viewport()
    page.keyboard.press("Escape")
    expect(hidden).to_be_hidden()
    expect(page.get_by_text("Filters", exact=True)).to_be_focused()
    page.keyboard.press("Enter")
    page.get_by_role("heading", level=1).click()
    expect(hidden).to_be_hidden()
    page.get_by_text("Filters", exact=True).click()
    hidden.click()
    expect(page.get_by_role("link", name="Remove the filter status: Hidden (0)")).to_be_visible()


def test_equal_names_of_communities_have_their_slugs(page: Page) -> None:
    names = [CommunityFactory(name="Harbour", slug=slug) for slug in ("harbour", "harbour-two")]
    request = RequestFactory(community_ids=[community.pk for community in names])
    for path in (path_of(request), path_of(Message, "changelist")):
        page.goto(path)
        for text in ("Harbour (harbour)", "Harbour (harbour-two)"):
            assert page.get_by_text(text).count() == 1, path
