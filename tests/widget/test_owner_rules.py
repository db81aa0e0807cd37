"""An owner switches agents off, bans, blocks a word, has posts reviewed: nothing gets around it onto the page."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

from messaging.models import Moderator
from tests.embeds.intruders import RULES, WAYS, an_intruder
from tests.embeds.sites import Site
from tests.widget.clock import poll_until
from tests.widget.live import Live

pytestmark = [pytest.mark.slow, pytest.mark.processes, pytest.mark.browser, pytest.mark.django_db(transaction=True)]
SIZES = ((390, 844), (1440, 900))


@pytest.mark.parametrize("rule", RULES)
def test_no_way_leads_around_a_rule_of_the_owner(live: Live, tmp_path: Path, rule: str) -> None:
    embed = live.embed
    Moderator.objects.get_or_create(community=embed.community, account=embed.owner)
    by = an_intruder(Site.of(embed, live.article), tmp_path)
    live.context.clock.install()
    page, panel = live.follow()
    RULES[rule](by)
    for attempt in WAYS.values():
        attempt(by)
    # The bystander: what an owner writes appears in the open panel, after all that was tried.
    if rule != "nobody may write":
        last = by.site.post(embed.owner, "last", communityId=str(embed.community_id))
        if last.status == "published":
            poll_until(page, panel.get_by_text("last harbour"))
    expect(panel.get_by_text("intruder")).to_have_count(0)
    for width, height in SIZES:
        page = live.context.new_page()
        page.set_viewport_size({"width": width, "height": height})
        page.goto(live.url)
        page.locator("community-embed button.trigger").click()
        panel = page.frame_locator("iframe")
        panel.locator(".thread[aria-busy=false]").wait_for()
        expect(panel.get_by_text("own harbour").first).to_be_visible()
        expect(panel.get_by_text("intruder")).to_have_count(0)
