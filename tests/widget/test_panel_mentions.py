"""Mentions: `@` completes those who wrote on the page, and the mentioned agent gets an event. The card of an agent says
what an agent is, who operates it, and when it was approved.
"""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

import pytest
from playwright.sync_api import FrameLocator, Locator, Page, Request, expect

from agents.services import freeze_agent
from messaging.inbox.events import mentions
from messaging.markdown.html import UNITS_MAX, cost_of
from messaging.models import Account
from messaging.word_lists.characters import UNSPACED
from tests.agents.factories import agent_with_token
from tests.factories import PersonFactory, SuperAdminFactory
from tests.markdown.cases import texts_of
from tests.widget.live import Live
from tests.widget.test_accessibility import violations_of_state

pytestmark = [pytest.mark.slow, pytest.mark.processes, pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def field(panel: FrameLocator | Page) -> Locator:
    return panel.get_by_label("Write a post…")


def test_a_completed_mention_reaches_the_inbox_of_the_agent(live: Live, ada: Account) -> None:
    agent = agent_with_token(agent_name="Library Helper", agent_handle="library_helper")
    live.message(content="Long ago", author=agent.account)
    live.messages(20, "Later", author=ada)
    live.signed_in(ada)
    panel = live.open_alone()
    area, options = field(panel), panel.locator("#write [role=option]")
    area.press_sequentially("Ask @libr")
    # The agent's post is not loaded.
    expect(options).to_have_text(["Library Helper@library_helper"])
    expect(area).to_have_attribute("aria-activedescendant", "mentions-1-0")
    area.press("Enter")
    expect(area).to_have_value("Ask @library_helper ")
    expect(options).to_have_count(0)
    area.press_sequentially("please")
    panel.locator("#write").get_by_role("button", name="Post").click()
    expect(panel.locator(".mention")).to_have_text("@library_helper")
    (event,) = agent.api.get("/v1/inbox", types="mention").json["events"]
    assert event["message"]["content"] == "Ask @library_helper please"
    assert not live.errors


def test_keys_choose_and_escape_closes_the_list_alone(live: Live, ada: Account) -> None:
    for handle, name in (("ben", "Benjamin Lovelace"), ("lovis", "Lovis")):
        live.message(author=PersonFactory(handle=handle, name=name))
    live.message(content="Mail a@ben.example, @ben! @no", author=ada)
    live.signed_in(ada)
    page, panel = live.open()
    expect(panel.locator(".mention")).to_have_text(["@ben"])
    panel.get_by_role("button", name="Reply").first.click()
    area = panel.get_by_label("Reply to Ada Lovelace")
    options = panel.locator(".reply-place [role=option]")
    area.press_sequentially("مرحبا @lov")
    expect(options).to_have_text(["Lovis@lovis", "Ada Lovelace@ada", "Benjamin Lovelace@ben"])
    assert violations_of_state(page) == []
    area.press("Escape")
    expect(options).to_have_count(0)
    area.press("e")
    expect(area).to_be_focused()
    expect(options).to_have_count(0)
    for _ in range(5):
        area.press("Backspace")
    area.press_sequentially("@lov")
    expect(options).to_have_count(3)
    area.press("ArrowUp")
    expect(options.nth(2)).to_have_attribute("aria-selected", "true")
    area.press("Tab")
    expect(area).to_have_value("مرحبا @ben ")
    area.press_sequentially("@ada")
    expect(options).to_have_count(0)
    area.press_sequentially(" @bEnj")
    options.click()
    expect(area).to_have_value("مرحبا @ben @ada @ben ")
    expect(area).to_be_focused()
    area.dispatch_event("compositionstart")
    area.evaluate(
        "area => { area.value += '@lo'; area.dispatchEvent(new InputEvent('input', { isComposing: true })); }"
    )
    expect(options).to_have_count(0)
    area.press("Escape")
    expect(area).to_have_count(0)
    expect(panel.locator(".thread")).to_be_visible()
    assert not live.errors


def test_those_in_the_thread_are_completed_without_the_participants_in_a_list_that_is_closed_when_it_is_left(
    live: Live, ada: Account
) -> None:
    live.message(author=PersonFactory(handle="ben"))
    live.context.route("**/v1/presence/participants?*", lambda route: route.abort())
    live.signed_in(ada)
    panel = live.open_alone()
    area, options = field(panel), panel.locator("#write [role=option]")
    area.press_sequentially("@be")
    expect(options).to_contain_text(["@ben"])
    # No key or click has moved the caret.
    area.evaluate("(area) => area.setSelectionRange(0, 0)")
    area.press("Enter")
    expect(options).to_have_count(0)
    expect(area).to_have_value("@be")
    assert not live.errors


PARTS = [
    *("@ada", "\uff20Bob", "@c_d", "a", "_", "é", "名", "한", "ไ", "م", "\u0e34", " ", "\n\n", "*", "**", "`", "."),
    *("\\", "[x @eve](https://a.example/)", "https://a.example/@fin", "\u200b", "> ", "(", "@"),
]
SOURCE = Path(__file__).parents[2] / "static/embed/later/mentions.js"
MATCHING = """(pattern) => {
  const found = [];
  for (let code = 0; code < 0x110000; code += 1) if (pattern.test(String.fromCodePoint(code))) found.push(code);
  return found;
}"""


def test_panel_marks_the_handles_that_the_service_finds(live: Live) -> None:
    texts = texts_of(PARTS, 315)
    # One of more marks would cost the service too much to parse.
    together = ["\n\n".join(f"x{text}" for text in texts[start : start + 30]) for start in range(15, 315, 30)]
    posts = [live.message(content=text) for text in [*(f"x{text}" for text in texts[:9]), *together]]
    assert all(cost_of(post.content) <= UNITS_MAX for post in posts)
    page = live.open_alone()
    for post in posts:
        content = page.locator(f"#community-post-{post.pk} .content")
        expect(content).to_have_count(1)
        shown = [handle[1:].lower() for handle in content.locator(".mention").all_text_contents()]
        assert shown == list(mentions(post.content)), post.content
    assert not live.errors


def test_panel_and_word_lists_know_the_same_letters_of_scripts_without_spaces(live: Live) -> None:
    """Unicode has given each character its script for good, so a browser knows more of them at most."""
    found = re.search(r"const UNSPACED = (/.+/u);", SOURCE.read_text(encoding="utf-8"))
    assert found
    in_browser = set(live.open_alone().evaluate(f"() => ({MATCHING})({found[1]})"))
    pattern = re.compile(f"[{UNSPACED}]")
    kinds = {"Lo", "Lm", "Lu", "Ll", "Lt", "Nd", "Nl"}
    known = [
        code
        for code in range(0x110000)
        if unicodedata.category(chr(code)) in kinds and unicodedata.normalize("NFKC", chr(code)) == chr(code)
    ]
    assert [hex(code) for code in known if bool(pattern.match(chr(code))) != (code in in_browser)] == []


def test_a_name_is_completed_from_each_word_and_each_letter_of_a_script_without_spaces(
    live: Live, ada: Account
) -> None:
    names = ("王小明", "김철수", "สมชาย ใจดี", "Zoë O'Hara")
    for number, name in enumerate(names):
        live.message(author=PersonFactory(handle=f"person{number}", name=name))
    live.signed_in(ada)
    panel = live.open_alone()
    area, options = field(panel), panel.locator("#write [role=option]")
    for begun, name in zip(("谢谢@小", "고마워요@철", "@ใจ", "\uff20hara"), names, strict=True):
        area.fill("")
        area.press_sequentially(begun)
        expect(options).to_contain_text([name])
    for begun in ("@oë", "x@王", "@ara"):
        area.fill("")
        area.press_sequentially(begun)
        expect(options).to_have_count(0)
    assert not live.errors


def test_a_badge_opens_the_card_by_press_hover_and_focus(live: Live) -> None:
    operator = PersonFactory(handle="grace", name="Grace <i>Hopper</i>")
    agent = agent_with_token(requester=operator, agent_name="Library Helper", agent_handle="library_helper")
    post = live.message(content="By an agent", author=agent.account)
    live.message(content="A quote", quote=post)
    other = agent_with_token(agent_handle="frozen_one")
    freeze_agent(agent=other.agent, by=SuperAdminFactory())
    live.message(content="By a frozen one", author=other.account)
    loaded: list[Request] = []
    live.context.on("request", lambda request: loaded.append(request) if "/v1/agents/" in request.url else None)
    live.context.route("**/v1/agents/*", lambda route: route.abort(), times=1)
    page, panel = live.open()
    card = panel.locator("#card")
    badge = panel.locator("article", has_text="By an agent").locator("> header .badge")
    assert loaded == []
    badge.click()
    expect(card).to_have_text("There is no connection to the service.")
    badge.click()
    # It is loaded at the next opening.
    badge.click()
    expect(badge).to_have_attribute("aria-expanded", "true")
    expect(card).to_contain_text("Library Helper @library_helper")
    expect(card).to_contain_text("An automated account, not a person")
    expect(card).to_contain_text("Operated by Grace <i>Hopper</i> (@grace)")
    expect(card).to_contain_text("Approved on")
    expect(card).not_to_contain_text("Suspended")
    # Escape closes the card and not the panel.
    page.keyboard.press("Escape")
    expect(card).to_be_hidden()
    expect(panel.locator(".thread")).to_be_visible()
    badge.click()
    expect(card).to_be_visible()
    badge.click()
    expect(card).to_be_hidden()
    badge.click()
    # The check scrolls, which closes the card.
    assert violations_of_state(page) == []
    expect(card).to_be_hidden()
    panel.locator("h1").click()

    panel.locator(".quote .badge").hover()
    expect(card).to_contain_text("Library Helper")
    card.hover()
    panel.locator("h1").hover()
    expect(card).to_be_hidden()
    assert len(loaded) == 2

    panel.locator("article", has_text="By a frozen one").focus()
    page.keyboard.press("Tab")
    expect(card).to_contain_text("Suspended: it cannot write at present.")
    page.keyboard.press("Tab")
    expect(card).to_be_hidden()
    assert not live.errors
