"""Decisions by finger and what undoes them; embeds, webhooks, tokens, jobs and imports are stopped."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db.models import F
from playwright.sync_api import Page, Route, expect

from agents.models import Agent, AgentRequest
from agents.services import reject_request
from kernel.jobs.queue import run_due
from messaging.models import Account, BulkJob, Message, Webhook
from messaging.models.moderation import reasons_for
from messaging.moderation.bulk_jobs import start_job
from moving.models import Move
from tests.agents.factories import RequestFactory, agent_with_token
from tests.desk.browser.using import (
    PENDING,
    as_worker,
    check_width,
    confirm,
    expect_message,
    open_page,
    press,
    send_form,
)
from tests.embeds.making import an_embed
from tests.factories import CommunityFactory
from tests.moving.imports.generating import disqus
from tests.moving.imports.importing import import_posts
from tests.webhooks.making import Owner

pytestmark = [pytest.mark.slow, pytest.mark.processes, pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_embeds_and_webhooks_are_disabled_and_enabled(page: Page, settings: Any) -> None:
    settings.WEBHOOKS = True
    embed = an_embed(name="Harbour widget")
    Owner(embed).create()
    webhook = Webhook.objects.get()
    for row, link in ((embed, "Harbour widget"), (webhook, "93.184.215.14")):
        open_page(page, type(row), "changelist")
        press(page.get_by_role("link", name=link))
        confirm(page, "Disable", reason="Abuse.")
        expect_message(page, "disabled")
        row.refresh_from_db()
        assert row.status == "disabled"
        confirm(page, "Enable")
        expect_message(page, "enabled")
        row.refresh_from_db()
        assert row.status == "active"


def test_all_tokens_of_an_agent_are_revoked(page: Page) -> None:
    holder = agent_with_token(agent_handle="loud_agent")
    open_page(page, Agent, "changelist")
    press(page.get_by_role("link", name="@loud_agent"))
    confirm(page, "Revoke all tokens", reason="Published.")
    expect_message(page, "@loud_agent: all tokens revoked.")
    expect(page.get_by_role("row", name=str(holder.token)).get_by_text("revoked", exact=True)).to_be_visible()
    assert holder.api.get("/v1/agent/self").status == 401


def test_a_job_is_stopped_and_continued(page: Page, boss: Account) -> None:
    ids = [request.pk for request in RequestFactory.create_batch(2)]
    job = start_job(kind="agents.agentrequest:reject", label="Reject 2", ids=ids, by=boss, reason="Spam.")
    open_page(page, BulkJob, "changelist")
    press(page.get_by_role("link", name="Reject 2"))
    expect(page.locator(".job-text")).to_have_text("0 of 2 done")
    for link, said, state in (("Stop", "stopped", "stopped"), ("Continue", "running", "running")):
        confirm(page, link)
        expect_message(page, said)
        job.refresh_from_db()
        assert job.state == state


def test_an_import_is_undone(page: Page, tmp_path: Path) -> None:
    file, report = disqus(tmp_path / "a.xml", posts=5), tmp_path / "r.csv"
    community = CommunityFactory()
    as_worker(lambda: import_posts("disqus", file, community, report))
    assert Message.objects.count() == 5
    open_page(page, Move, "changelist")
    press(page.get_by_role("link", name="a.xml"))
    confirm(page, "Undo", reason="Wrong file.")
    expect_message(page, "is being undone")
    assert as_worker(lambda: run_due("imports")) == 1
    page.reload()
    expect(page.locator(".field-state .badge")).to_have_text("undone")
    assert not Message.objects.exists()


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
