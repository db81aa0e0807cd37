"""Decisions on agent requests by finger or mouse, and what undoes them."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db.models import F
from playwright.sync_api import Page, Route, expect

from agents.models import Agent, AgentRequest
from agents.services import reject_request
from messaging.models import Account
from messaging.models.ready_reason import reasons_for
from tests.agents.factories import RequestFactory
from tests.desk.browser.using import PENDING, check_width, confirm, expect_message, open_page, press, send_form

pytestmark = [pytest.mark.slow, pytest.mark.processes, pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_ready_reason_is_chosen_and_sent_by_the_bar_and_undone(page: Page) -> None:
    first, second = RequestFactory(agent_handle="first_one"), RequestFactory(agent_handle="second_one")
    open_page(page, AgentRequest, "changelist", PENDING)
    bar = page.get_by_role("region", name="Decide on the current row")
    reject = bar.get_by_role("button", name="Reject")
    expect(bar.locator(".decision-name")).to_have_text(str(first))
    expect(reject).to_be_in_viewport()
    press(reject)
    reason = reasons_for("request")[1]
    choice = bar.get_by_role("button", name=reason)
    expect(choice).to_be_in_viewport()
    press(choice)
    expect(bar.get_by_label("Reason")).to_have_value(reason)
    # The reasons are still shown.
    check_width(page)
    press(reject)
    expect(bar.locator(".decision-name")).to_have_text(str(second))
    first.refresh_from_db()
    assert (first.status, first.reason) == ("rejected", reason)
    press(bar.get_by_role("button", name="Undo"))
    expect(bar.get_by_role("status")).to_contain_text("pending again")
    expect(bar.locator(".decision-name")).to_have_text(str(first))
    first.refresh_from_db()
    assert first.status == "pending"


def test_where_an_undo_is_refused_the_agent_is_frozen(page: Page, console: list[str]) -> None:
    request = RequestFactory(agent_handle="first_one")
    RequestFactory(agent_handle="second_one")
    open_page(page, AgentRequest, "changelist", PENDING)
    bar = page.get_by_role("region", name="Decide on the current row")
    press(bar.get_by_role("button", name="Approve"))
    expect(bar.get_by_role("status")).to_contain_text(f"{request}: approved")
    AgentRequest.objects.filter(pk=request.pk).update(decided_at=F("decided_at") - timedelta(minutes=1))
    press(bar.get_by_role("button", name="Undo"))
    freeze = bar.get_by_role("link", name="Freeze the agent…")
    expect(freeze).to_be_in_viewport()
    check_width(page)
    # The browser logs the refusal.
    assert [error for error in console if "409" not in error] == []
    console.clear()
    press(freeze)
    send_form(page, "Freeze", reason="Approved by mistake.")
    expect_message(page, "frozen")
    agent = Agent.objects.get()
    assert (agent.frozen_at is not None, agent.freeze_reason) == (True, "Approved by mistake.")


def test_an_undo_without_an_answer_is_repeated_by_its_key(page: Page, console: list[str]) -> None:
    first, second, _third = (RequestFactory(agent_handle=f"{name}_one") for name in ("first", "second", "third"))
    sent: list[Route] = []

    def lose_the_third(route: Route) -> None:
        sent.append(route)
        return route.abort() if len(sent) == 3 else route.fallback()

    page.route("**/decide/**", lose_the_third)
    open_page(page, AgentRequest, "changelist", PENDING)
    bar = page.get_by_role("region", name="Decide on the current row")
    for request in (first, second):
        press(bar.get_by_role("button", name="Approve"))
        expect(bar.get_by_role("status")).to_contain_text(f"{request}: approved")
    press(bar.get_by_role("button", name="Undo"))
    expect(bar.get_by_role("status")).to_contain_text("did not answer")
    expect(bar.get_by_role("button", name="Undo")).to_be_visible()
    page.keyboard.press("u")
    expect(bar.locator(".decision-name")).to_have_text(str(second))
    assert list(AgentRequest.objects.order_by("agent_handle").values_list("status", flat=True)) == [
        "approved",
        "pending",
        "pending",
    ]
    # The browser logs the lost request.
    assert [error for error in console if "ERR_FAILED" not in error] == []
    console.clear()


def test_a_rejected_request_is_reopened_on_its_page(page: Page, boss: Account) -> None:
    request = RequestFactory(agent_handle="first_one")
    reject_request(request_id=request.pk, by=boss, reason="Too loud.")
    open_page(page, AgentRequest, "changelist", "?status__exact=rejected")
    press(page.get_by_role("link", name="@first_one"))
    expect(page.get_by_text("Reason: Too loud.")).to_be_visible()
    confirm(page, "Undo the decision")
    expect_message(page, "pending again")
    expect(page.get_by_role("button", name="Approve")).to_be_in_viewport()
    request.refresh_from_db()
    assert request.status == "pending"
