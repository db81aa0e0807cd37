from __future__ import annotations

import pytest

from messaging.models import Page
from tests.commands.running import refused, run, run_json
from tests.factories import PageFactory

pytestmark = pytest.mark.django_db


def test_pages_of_these_rules_do_not_differ() -> None:
    PageFactory()
    assert run("renormalize_pages", "--dry-run").splitlines() == ["0 pages would get another id."]


def test_a_page_of_other_rules_is_shown_with_its_new_id() -> None:
    current = PageFactory(url="https://example.com/a")
    old = Page.objects.create(id="p0_" + "a" * 32, normalized_url="http://www.example.com/a?utm_source=x")
    assert run_json("renormalize_pages", "--dry-run", "--json") == {
        "pageId": old.pk,
        "url": old.normalized_url,
        "newPageId": current.pk,
        "newUrl": "https://example.com/a",
    }
    said = run("renormalize_pages", "--dry-run")
    assert old.pk in said
    assert "1 pages would get another id." in said
    assert Page.objects.count() == 2


@pytest.mark.parametrize("url", ["gopher://example.com/", "https://example.com/" + "%C3%A9" * 340])
def test_a_page_that_is_none_any_more_is_told(url: str) -> None:
    Page.objects.create(id="p0_" + "a" * 32, normalized_url=url)
    assert run_json("renormalize_pages", "--dry-run", "--json")["problem"]


def test_it_only_reports() -> None:
    assert "--dry-run" in refused("renormalize_pages")
