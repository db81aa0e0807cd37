"""Embeds and webhooks are disabled and enabled again, tokens revoked, jobs stopped and continued, imports undone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from agents.models import Agent
from messaging.models import Account, BulkJob, Message, Webhook
from messaging.services.bulk_jobs import start_job
from moving.jobs import run_due_imports
from moving.models import Move
from tests.agents.factories import RequestFactory, agent_with_token
from tests.desk.browser.using import as_worker, confirm, expect_message, open_page, press
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


def test_a_job_is_stopped_and_continued(page: Page, boss: Account, settings: Any) -> None:
    """With a scheduler, which does not run here."""
    settings.HOUSEKEEPING_MINUTES = 60
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
    assert as_worker(run_due_imports) == 1
    page.reload()
    expect(page.locator(".field-state .badge")).to_have_text("undone")
    assert not Message.objects.exists()
