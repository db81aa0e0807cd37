"""A permalink in a browser: where it leads, with and without scripts."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from playwright.sync_api import expect

from messaging.models import Page
from tests.widget.live import Live
from tests.widget.test_accessibility import violations_of

pytestmark = [pytest.mark.slow, pytest.mark.processes, pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def embed(live: Live) -> None:
    Page.objects.filter(pk=live.article.pk).update(last_embedded_on=datetime.now(UTC).date())


def test_it_leads_to_the_post_on_its_page_and_is_not_in_the_history(live: Live) -> None:
    embed(live)
    post = live.message()
    # The host serves http, the normalised URL is https.
    target = f"{live.article.normalized_url}#community-post-{post.pk}"
    live.context.route(f"{live.article.normalized_url}**", lambda route: route.fulfill(body="The article"))
    page = live.context.new_page()
    page.goto(f"{live.app}/embed/sign-in")
    page.goto(f"{live.app}/p/{post.pk}", wait_until="commit")
    page.wait_for_url(target)
    page.go_back()
    page.wait_for_url(f"{live.app}/embed/sign-in")
    assert not live.errors


def test_a_reader_without_scripts_has_a_link(live: Live) -> None:
    embed(live)
    post = live.message(content="Plain text")
    browser = live.context.browser
    assert browser is not None
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{live.app}/p/{post.pk}")
    link = page.get_by_role("link", name="Read it on its page")
    expect(link).to_have_attribute("href", f"{live.article.normalized_url}#community-post-{post.pk}")
    expect(page.locator("article")).to_contain_text("Plain text")
    context.close()


def test_the_thread_has_no_violations(live: Live) -> None:
    post = live.message(content="A post", parent=live.message(content="Above"))
    live.message(content="A reply", parent=post)
    page = live.context.new_page()
    page.goto(f"{live.app}/p/{post.pk}")
    assert violations_of(page) == []
    page.goto(f"{live.app}/p/{live.article.pk}")
    assert violations_of(page) == []
    assert not live.errors


def test_an_article_of_the_panel_has_the_id_that_permalinks_name(live: Live) -> None:
    post = live.message(content="A post")
    page = live.open_alone()
    expect(page.locator(f"#community-post-{post.pk}")).to_contain_text("A post")


def test_a_permalink_leads_to_the_page_in_which_a_panel_was_opened(live: Live) -> None:
    def day() -> date | None:
        return Page.objects.get(pk=live.article.pk).last_embedded_on

    live.open_alone()
    assert day() is None
    live.open()
    assert day() is not None
    assert Page.objects.get(pk=live.article.pk).embedded_origin == live.host
    # The normalised URL is https, which this host does not answer.
    post = live.message()
    reader = live.context.new_page()
    reader.goto(f"{live.app}/p/{post.pk}", wait_until="commit")
    reader.wait_for_url(f"{live.url}#community-post-{post.pk}")
