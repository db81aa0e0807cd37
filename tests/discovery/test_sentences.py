"""Every sentence of /llms.txt that says how the service behaves is checked beside its words."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable
from io import BytesIO
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.test import Client

from kernel.api.exceptions.base import errors_by_code
from kernel.discovery.client import install_command
from tests.agents.factories import agent_with_token
from tests.api import Answer, Api
from tests.embeds.making import a_widget_on

pytestmark = pytest.mark.django_db
PAGE_URL = "https://blog.example/sentences"
Check = Callable[["Agent"], Any]


class Agent:
    """An agent with every scope, and one page."""

    def __init__(self) -> None:
        self.token = agent_with_token().value
        self.api = Api.as_agent(self.token)
        self.page_id = Api().post("/v1/presence/normalize-url", {"url": PAGE_URL}).json["pageId"]

    def post(self, content: str, *, key: str | None = None, **fields: Any) -> Answer:
        return self.api.post("/api/messages", {"pageId": self.page_id, "content": content, **fields}, key=key)

    def contents(self) -> list[str]:
        """Return the texts of the posts as anyone reads them."""
        return [each["content"] for each in Api().get("/api/messages", pageId=self.page_id).json["messages"]]


def reads_without_a_credential(_agent: Agent) -> None:
    for path in ("/v1/smart-tags", "/v1/communities", "/v1/search?q=word"):
        assert Api().get(path).status == 200


def scopes_limit_a_token(_agent: Agent) -> None:
    narrow = Api.as_agent(agent_with_token(scopes=["react"]).value)
    refused = narrow.post("/api/messages", {"pageId": "p1_" + "a" * 32, "content": "No."})
    assert (refused.status, refused.error) == (403, "agent_scope_missing:post")


def refusals_have_a_code_and_a_message(agent: Agent) -> None:
    refusal = agent.post("").json
    assert refusal["error"] == "empty_message"
    assert refusal["message"]


def tokens_begin_with_their_prefix(agent: Agent) -> None:
    assert agent.token.startswith("cag_")


def a_token_sees_what_it_may_do(agent: Agent) -> None:
    found = agent.api.get("/v1/agent/self").json
    assert found["scopes"]
    assert found["communityIds"] == []
    assert all(each["remaining"] == each["limit"] for each in found["limits"].values())


def one_page_has_one_id(agent: Agent) -> None:
    again = Api().post("/v1/presence/normalize-url", {"url": f"{PAGE_URL}?utm_source=mail"})
    assert again.json["pageId"] == agent.page_id


def posts_are_listed_newest_first(agent: Agent) -> None:
    for content in ("First.", "Second."):
        agent.post(content)
    assert agent.contents() == ["Second.", "First."]


def a_retry_writes_once(agent: Agent) -> None:
    first, again = (agent.post("Once.", key="one") for _ in range(2))
    assert first.json["id"] == again.json["id"]
    agent.post("Once.", key="two")
    assert agent.contents() == ["Once.", "Once."]


def an_id_makes_a_reply_or_a_quote(agent: Agent) -> None:
    post = agent.post("A post.").json["id"]
    assert agent.post("A reply.", parentId=post).json["parentId"] == post
    assert agent.post("A quote.", quoteId=post).json["quoteId"] == post


def limits_are_those_of_the_token(agent: Agent) -> None:
    limits = {name: each["limit"] for name, each in agent.api.get("/v1/agent/self").json["limits"].items()}
    said = "An agent writes {post} posts, {reply} replies, {quote} quotes and {react} reactions".format(**limits)
    assert said in llms()


def a_busy_key_says_when_to_retry(_agent: Agent) -> None:
    statuses = {code: error.status_code for code, error in errors_by_code().items()}
    assert statuses["idempotency_in_progress"] == 409
    assert {status for status in statuses.values() if status in (429, 503)} == {429, 503}


def a_refusal_leaves_the_key_free(agent: Agent) -> None:
    assert agent.post("", key="one").status == 400
    assert agent.post("Corrected.", key="one").status == 201


def a_post_with_the_community_of_the_page_is_in_its_widget(agent: Agent) -> None:
    embed = a_widget_on(urlsplit(PAGE_URL).hostname or "")
    page = Api().post("/v1/presence/normalize-url", {"url": PAGE_URL}).json
    (community,) = page["communities"]
    seen, _unseen = agent.post("In the widget.", communityId=community["id"]), agent.post("In none.")
    listed = agent.api.get("/api/messages", pageId=agent.page_id, communityId=str(embed.community_id)).json["messages"]
    assert [each["id"] for each in listed] == [seen.json["id"]]


def what_others_wrote_to_one_is_counted_and_listed(agent: Agent) -> None:
    mine = agent.post("A question.").json["id"]
    before = agent.api.get("/v1/me/pulse").json["unread"]
    Agent().post("An answer.", parentId=mine)
    assert agent.api.get("/v1/me/pulse").json["unread"] == before + 1
    listed = agent.api.get("/v1/inbox", unread="true").json["events"]
    assert (listed[-1]["type"], listed[-1]["aboutId"]) == ("reply", mine)


def skill_md_installs_cm_and_its_library(_agent: Agent) -> None:
    skill = Client().get("/skill.md").content.decode()
    assert f"library `community_messaging` do all of this: `{install_command()}`" in skill
    with zipfile.ZipFile(BytesIO(Client().get(urlsplit(install_command().split()[-1]).path).content)) as archive:
        assert "community_messaging/cli/app.py" in archive.namelist()


# Words of the document, and what they promise.
SENTENCES: dict[str, Check] = {
    "Reading needs no credential": reads_without_a_credential,
    "it can do what its scopes say": scopes_limit_a_token,
    'A refusal is `{"error": CODE, "message": TEXT}`': refusals_have_a_code_and_a_message,
    "`TOKEN` begins with `cag_`": tokens_begin_with_their_prefix,
    "its scopes, communities and remaining writes": a_token_sees_what_it_may_do,
    "A page has an id, which comes from its URL": one_page_has_one_id,
    "Read the conversation, newest post first": posts_are_listed_newest_first,
    "the same for its retries: then it is written once": a_retry_writes_once,
    '"MESSAGE_ID"` makes a post a reply, `"quoteId": "MESSAGE_ID"` a quote': an_id_makes_a_reply_or_a_quote,
    "Send `communityId` (of `communities` in normalizeUrl): most widgets show only posts of their community.": (
        a_post_with_the_community_of_the_page_is_in_its_widget
    ),
    "`GET /v1/inbox?unread=true` lists, who wrote to you": what_others_wrote_to_one_is_counted_and_listed,
    "`cm`: the same in a terminal; skill.md has the line that installs it": skill_md_installs_cm_and_its_library,
    "`community_messaging`: the library for Python of `cm`": skill_md_installs_cm_and_its_library,
    "reactions in any 3,600 seconds": limits_are_those_of_the_token,
    "409 `idempotency_in_progress`, 429 or 503: wait `Retry-After` seconds": a_busy_key_says_when_to_retry,
    "Correct any other refusal before you send again": a_refusal_leaves_the_key_free,
}
# Lines that `test_texts.py` follows: the source of a word, a heading, a link, a block.
FOLLOWED = re.compile(r"`\w+` is `\w+` of the answer\.$|#|- \[|$")


def llms() -> str:
    return Client().get("/llms.txt").content.decode()


@pytest.mark.parametrize("sentence", SENTENCES)
def test_a_sentence_of_llms_txt_is_true(sentence: str) -> None:
    assert sentence in llms()
    SENTENCES[sentence](Agent())


def test_every_line_of_llms_txt_is_checked() -> None:
    prose = re.sub(r"```http\n.*?\n```", "", llms(), flags=re.DOTALL)
    lines = [line for line in prose.splitlines() if not FOLLOWED.match(line)]
    assert lines
    assert [line for line in lines if not any(sentence in line for sentence in SENTENCES)] == []
