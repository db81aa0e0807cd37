"""The lists of the admin in a browser: decisions by keys, with undo; the bar; jobs with progress."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from agents.models import Agent, AgentRequest
from messaging.admin.desk.running import run_to_end
from messaging.models import BulkJob, Message, Report
from messaging.services.bulk_jobs import start_job
from messaging.services.moderation import approve_message
from messaging.services.undoing import return_to_review
from tests.admin.pages import page as path_of
from tests.admin.test_browser import INLINE, boss, context, fits_the_width, page, screen, widths
from tests.agents.factories import RequestFactory
from tests.api import Api
from tests.factories import CommunityFactory, MessageFactory, PersonFactory, SuperAdminFactory
from tests.widget.live import intercept, wait_for_first

__all__ = ["boss", "context", "page", "screen"]
pytestmark = [pytest.mark.slow, pytest.mark.processes, pytest.mark.browser, pytest.mark.django_db(transaction=True)]
PENDING = "?status__exact=pending"
# Routed before the page is opened: the next request of an open page may miss a new route.
DECIDE = "**/decide/**"


# Enter while an input method composes a word.
COMPOSED = "{ key: 'Enter', isComposing: true, bubbles: true, cancelable: true }"


def expect_current(page: Page, name: str) -> None:
    expect(page.locator(".decision-name")).to_have_text(name)


@pytest.mark.journey
@widths
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


@widths
def test_a_request_for_every_community_is_narrowed_in_the_list(page: Page) -> None:
    chosen = CommunityFactory(name="Chosen")
    CommunityFactory(name="Other")
    RequestFactory(agent_handle="first_one")
    page.goto(path_of(AgentRequest, "changelist") + PENDING)
    page.keyboard.press("o")
    page.get_by_label("Communities; none: every community").select_option("Chosen")
    page.get_by_role("button", name="Approve @first_one").click()
    expect(page.get_by_text("0 agent requests", exact=True)).to_be_visible()
    assert Agent.objects.get().community_ids == [chosen.pk]


@widths
def test_the_bar_is_always_visible_and_the_pages_fit(page: Page, screen: dict[str, int]) -> None:
    communities = [CommunityFactory(name="c" * 100).pk, CommunityFactory().pk]
    for n in range(12):
        RequestFactory(agent_handle="w" * 27 + f"{n:02}", purpose="p" * 2000, community_ids=communities)
    MessageFactory.create_batch(12, status="pending", content="m" * 3000, community=CommunityFactory())
    for model, button in ((AgentRequest, "Approve A"), (Message, "Approve A")):
        page.goto(path_of(model, "changelist") + PENDING)
        expect(page.locator(".decision-bar .row-action-approve")).to_be_in_viewport()
        page.locator("details.review > summary").first.click()
        assert fits_the_width(page), (model, button)
        assert page.locator(INLINE).count() == 0
        page.mouse.wheel(0, 400)
        expect(page.locator(".decision-bar .row-action-approve")).to_be_in_viewport()
    for row in (AgentRequest.objects.earliest("created_at"), Message.objects.earliest("created_at")):
        page.goto(path_of(row))
        for name in ("Approve", "Reject" if isinstance(row, AgentRequest) else "Hide"):
            expect(page.get_by_role("button", name=name)).to_be_in_viewport()
        assert fits_the_width(page)


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


@widths
def test_posts_are_decided_in_their_list(page: Page) -> None:
    first = MessageFactory(status="pending", content="First words")
    second = MessageFactory(status="pending", content="Second words")
    page.goto(path_of(Message, "changelist") + PENDING)
    page.get_by_role("row", name="First words").get_by_role("button", name="Hide").click()
    page.get_by_label("Reason").fill("Rude.")
    page.keyboard.press("Enter")
    expect(page.locator(".decision-done")).to_contain_text("hidden")
    page.keyboard.press("u")
    expect(page.locator(".decision-done")).to_contain_text("as before")
    page.keyboard.press("a")
    expect(page.locator(".decision-done")).to_contain_text("approved")
    assert [Message.objects.get(pk=one.pk).status for one in (first, second)] == ["published", "pending"]


def test_a_key_does_not_approve_a_text_that_came_after_the_list(browser: Any, live_server: Any, page: Page) -> None:
    message = MessageFactory(status="pending", updated_at=datetime(2026, 5, 1, tzinfo=UTC))
    # Of its own, since a browser logs each 409 as an error.
    context = browser.new_context(base_url=live_server.url, storage_state=page.context.storage_state())
    listed = context.new_page()
    listed.goto(path_of(Message, "changelist") + PENDING)
    expect_current(listed, f"Post of {message.author}")
    assert Api.as_person(message.author).put(f"/api/messages/{message.pk}", {"content": "Later"}).status == 200
    listed.keyboard.press("a")
    expect(listed.locator(".decision-done")).to_contain_text("message edited")
    assert Message.objects.get(pk=message.pk).status == "pending"
    listed.reload()
    expect(listed.locator(".field-excerpt")).to_have_text("Later")
    listed.keyboard.press("a")
    expect(listed.locator("#changelist")).not_to_contain_text("Later")
    assert Message.objects.get(pk=message.pk).status == "published"
    context.close()


def test_a_key_does_not_undo_the_later_decision_of_another_moderator(
    browser: Any, live_server: Any, page: Page
) -> None:
    first, second = MessageFactory.create_batch(2, status="pending")
    # As above.
    context = browser.new_context(base_url=live_server.url, storage_state=page.context.storage_state())
    listed = context.new_page()
    listed.goto(path_of(Message, "changelist") + PENDING)
    expect_current(listed, f"Post of {first.author}")
    listed.keyboard.press("a")
    expect_current(listed, f"Post of {second.author}")
    return_to_review(message_id=first.pk, by=SuperAdminFactory())
    approve_message(message_id=first.pk, by=SuperAdminFactory())
    listed.keyboard.press("u")
    expect(listed.locator(".decision-done")).to_contain_text("message state changed (status: published)")
    assert Message.objects.get(pk=first.pk).status == "published"
    context.close()


@widths
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


@pytest.mark.parametrize("minutes", [0, 60])
def test_the_page_of_a_job_shows_its_progress(page: Page, boss: Any, settings: Any, minutes: int) -> None:
    """Without a scheduler the open page carries it out."""
    settings.HOUSEKEEPING_MINUTES = minutes
    ids = [request.pk for request in RequestFactory.create_batch(5)]
    job = start_job(kind="agents.agentrequest:reject", label="Reject 5", ids=ids, by=boss, reason="Spam.")
    page.goto(path_of(job))
    if minutes:
        expect(page.locator(".job-text")).to_have_text("0 of 5 done")
        run_to_end(job.pk)
    expect(page.get_by_text("5 of 5 done")).to_be_visible()
    expect(page.get_by_role("link", name="Undo…")).to_be_visible()
    assert BulkJob.objects.get().state == "finished"


@widths
def test_without_scripts_the_buttons_of_the_rows_decide(
    browser: Any, live_server: Any, page: Page, tmp_path: Path
) -> None:
    requester = PersonFactory()
    first, second = (RequestFactory(requester=requester, agent_handle=handle) for handle in ("first_one", "second_one"))
    state = page.context.storage_state()
    context = browser.new_context(
        base_url=live_server.url, storage_state=state, java_script_enabled=False, viewport=page.viewport_size
    )
    plain = context.new_page()
    plain.goto(path_of(AgentRequest, "changelist") + PENDING)
    plain.get_by_role("button", name="Approve @first_one").click()
    expect(plain.locator(".messagelist")).to_contain_text("approved")
    assert plain.url.endswith(f"{PENDING}#row-{second.pk}")
    plain.get_by_role("button", name="Undo").click()
    expect(plain.locator(".messagelist")).to_contain_text("pending again")
    first.refresh_from_db()
    assert first.status == "pending"
    context.close()
