"""Accounts of the site in the widget: silent sign-in, renewal by the page, signing out on both sides, other windows."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from embeds.models import SiteAccount, UsedSiteToken
from messaging.models import Account, Message
from tests.embeds.site_tokens import EXCHANGE, Site
from tests.widget.live import Live, open_panel, panel_frame
from tests.widget.test_panel_own import write
from tests.widget.test_panel_session import SIGNED_OUT, expect_account

pytestmark = [pytest.mark.slow, pytest.mark.processes, pytest.mark.browser, pytest.mark.django_db(transaction=True)]
LOADED = "typeof window.CommunityEmbed?.signIn === 'function'"
ADA, GRACE = "Signed in as Ada Lovelace", "Signed in as Grace Hopper"
# The page waits for the module, as a script of the site would.
CALLED = """
<script>
  window.asked = 0;
  document.addEventListener("community-embed:accounts", () => CommunityEmbed.signIn(async () => {
    window.asked += 1;
    return (await fetch("/host/token")).text();
  }), { once: true });
</script>
"""


# The site shows a sign-in of its own, the first time.
ONCE = """
document.addEventListener("community-embed:signin", (event) => {
  event.preventDefault();
  window.isAsked = true;
}, { once: true })
"""
# What only the page around the panel may say, said by the panel's own window.
FORGED = """(token) => {
  postMessage({ type: "site-signed-in" }, "*");
  postMessage({ type: "token", token }, "*");
  return new Promise((resolve) => setTimeout(resolve, 200));
}"""
HEARD = "new Promise((resolve) => setTimeout(() => resolve([asked, window.got || null]), 200))"


def serve_tokens(live: Live, site: Site, **claims: Any) -> None:
    """The server of the site, which signs another token for each request."""

    def sign(route: Route) -> None:
        route.fulfill(body=site.token(**claims), content_type="text/plain")

    live.context.route(f"{live.host}/host/token", sign)


def test_a_token_in_the_code_signs_in_without_a_press(live: Live) -> None:
    site = Site(embed=live.embed)
    live.attributes = f' data-user="{site.token()}"'
    page, panel = live.open()
    expect_account(panel, ADA)
    write(panel, "Hello from the site.")
    expect(panel.locator("article")).to_contain_text("Hello from the site.")
    assert Message.objects.get().author == site.account().account
    # Nothing is stored for it, and the page learns nothing of the token that the panel has.
    frame = panel_frame(page)
    assert frame.evaluate("[sessionStorage.length, document.cookie]") == [0, ""]
    assert live.context.cookies() == []
    # Reloaded with the same code, the page is signed out: a token is exchanged once.
    page.reload()
    expect_account(open_panel(page), SIGNED_OUT)
    assert (live.errors, UsedSiteToken.objects.count()) == ([], 1)


def test_a_function_of_the_page_renews_the_sign_in(live: Live) -> None:
    site = Site(embed=live.embed)
    serve_tokens(live, site)
    live.before = CALLED
    page, panel = live.open()
    expect_account(panel, ADA)
    asked = page.evaluate("asked")
    # The service refuses the user token: its sessions were ended.
    account = site.account().account
    account.end_sessions()
    account.save()
    write(panel, "Written with a refused token.")
    page.wait_for_function(f"asked > {asked}")
    expect_account(panel, ADA)
    panel.locator("#write").get_by_role("button", name="Post").click()
    expect(panel.locator("article")).to_contain_text("Written with a refused token.")


def test_page_and_reader_sign_out_and_another_reader_comes(live: Live) -> None:
    site = Site(embed=live.embed)
    serve_tokens(live, site)
    live.before = CALLED
    page, panel = live.open()
    expect_account(panel, ADA)
    page.evaluate("CommunityEmbed.signOut()")
    expect_account(panel, SIGNED_OUT)
    page.evaluate("token => CommunityEmbed.signIn(token)", site.token(sub="43", name="Grace Hopper"))
    expect_account(panel, GRACE)
    page.evaluate("document.addEventListener('community-embed:signout', () => { window.left = true; })")
    panel.get_by_role("button", name="Sign out").click()
    expect_account(panel, SIGNED_OUT)
    page.wait_for_function("window.left")


def test_a_reader_who_is_signed_out_goes_to_the_sign_in_of_the_site(live: Live) -> None:
    Site(embed=live.embed, sign_in_url=f"{live.host}/host/login")
    page, panel = live.open()
    expect_account(panel, SIGNED_OUT)
    page.evaluate(ONCE)
    panel.get_by_role("button", name="Sign in").click()
    page.wait_for_function("window.isAsked")
    panel.get_by_role("button", name="Sign in").click()
    page.wait_for_url(f"{live.host}/host/login")


def test_other_windows_get_no_token_and_sign_nobody_in(live: Live) -> None:
    """A frame of the page asks for a token, and the panel hears only the page around it."""
    site = Site(embed=live.embed)
    live.before = CALLED
    live.after = """<iframe id="evil" srcdoc="<script>
      addEventListener('message', ({ data }) => parent.postMessage({ got: data }, '*'));
      for (const type of ['accounts', 'token-please', 'sign-in', 'signed-out']) parent.postMessage({ type }, '*');
    </script>" sandbox="allow-scripts"></iframe>"""
    exchanged = live.intercept(EXCHANGE)
    page = live.context.new_page()
    page.goto(live.url)
    page.evaluate("addEventListener('message', ({ data }) => { if (data.got) window.got = data.got; })")
    page.wait_for_function(LOADED)
    evil = next(frame for frame in page.frames if frame.parent_frame and "panel" not in frame.url)
    evil.evaluate("parent.postMessage({ type: 'token-please' }, '*')")
    assert page.evaluate(HEARD) == [0, None]
    # A message that is not of the page around the panel.
    page.evaluate("CommunityEmbed.signOut(); document.getElementById('evil').remove()")
    panel = open_panel(page)
    expect_account(panel, SIGNED_OUT)
    panel_frame(page).evaluate(FORGED, site.token())
    expect_account(panel, SIGNED_OUT)
    assert (exchanged, SiteAccount.objects.count()) == ([], 0)


def test_both_leaves_the_reader_of_the_service_signed_in(live: Live, ada: Account) -> None:
    Site(embed=live.embed, sign_in="both")
    live.before = CALLED.replace('(await fetch("/host/token")).text()', "null")
    live.signed_in(ada)
    page, panel = live.open()
    expect_account(panel, f"Signed in as {ada.name}")
    page.wait_for_function("asked")
    expect_account(panel, f"Signed in as {ada.name}")


def test_the_console_says_why_a_token_is_refused(live: Live) -> None:
    site = Site(embed=live.embed)
    live.attributes = f' data-user="{site.token(aud="x")}"'
    _page, panel = live.open()
    expect_account(panel, SIGNED_OUT)
    assert [text for text in live.console if "refused" in text] == [
        "[community-embed] token refused: invalid_site_token aud"
    ]


def test_an_embed_of_the_service_loads_nothing_for_it(live: Live) -> None:
    live.attributes = ' data-user="some.signed.token"'
    requested: list[str] = []
    live.context.on("request", lambda request: requested.append(request.url))
    page, panel = live.open()
    expect_account(panel, SIGNED_OUT)
    assert [url for url in requested if "accounts.js" in url or EXCHANGE in url] == []
    assert page.evaluate(LOADED) is False


def page_requests(page: Page) -> list[str]:
    return [str(entry) for entry in page.evaluate("performance.getEntriesByType('resource').map(({ name }) => name)")]


def test_before_a_press_the_page_sends_one_request_more(live: Live) -> None:
    site = Site(embed=live.embed)
    live.attributes = f' data-user="{site.token()}"'
    page = live.context.new_page()
    page.goto(live.url)
    page.wait_for_function(LOADED)
    names = [url.split("?")[0].removeprefix(live.app) for url in page_requests(page)]
    assert names == ["/embed/v1.js", f"/api/embeds/config/{live.embed.pk}", "/embed/accounts.js"]
    assert UsedSiteToken.objects.count() == 0
