"""Ways to get a post onto the page of another's site, and the rules of its community against them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from messaging.communities.bans import ban_account
from messaging.communities.services import create_community
from messaging.models import Account, Community, Message
from messaging.moderation.moderators import change_rules
from tests.agents.factories import TokenHolder, agent_with_token
from tests.api import Answer, Api
from tests.embeds.making import an_embed
from tests.embeds.sites import WORD, Site
from tests.factories import PersonFactory
from tests.mcp_server.rpc import Mcp

BLOCKED = "casino"


@dataclass
class Intruder:
    """A person with an agent, a community and an embed, which the owner has banned, and the owner's site."""

    site: Site
    # The owner wrote the first one, and the intruder the other before the rule.
    first: Message
    innocent: Message
    person: Account
    agent: TokenHolder
    community: Community
    folder: Path
    # The first word of the posts, by which a test finds those of one attempt.
    name: str = "intruder"

    @property
    def text(self) -> str:
        return f"{self.name} {WORD} {BLOCKED}"

    @property
    def own(self) -> Api:
        return Api.as_person(self.person)

    def send(self, api: Api, **fields: Any) -> Answer:
        headers = fields.pop("headers", None)
        return api.post("/api/messages", {"pageId": self.site.page.pk, "content": self.text} | fields, headers=headers)

    def sent(self, api: Api, **fields: Any) -> str:
        answer = self.send(api, **fields)
        assert answer.status == 201, answer.json
        return str(answer.json["id"])

    def elsewhere(self) -> str:
        """A post of the intruder's community on the page."""
        return self.sent(self.own, communityId=str(self.community.pk))

    def embed_of_theirs(self) -> dict[str, str]:
        embed = an_embed(self.person, community_id=self.community.pk)
        return {"x-service-embed-id": str(embed.pk)}


def as_header(site: Site) -> dict[str, str]:
    return {"x-service-embed-id": str(site.embed.pk)}


FOREIGN_WIDGET = "from another widget into the owner's community"
# Each sends a text that the owner forbids.
WAYS: dict[str, Callable[[Intruder], Any]] = {
    "without a community": lambda by: by.send(by.own),
    "in another community": lambda by: by.elsewhere(),
    "in the owner's community": lambda by: by.send(by.own, communityId=str(by.site.community.pk)),
    "from the owner's widget": lambda by: by.send(by.own, headers=as_header(by.site)),
    "from another widget": lambda by: by.send(by.own, headers=by.embed_of_theirs()),
    FOREIGN_WIDGET: lambda by: by.send(by.own, headers=by.embed_of_theirs(), communityId=str(by.site.community.pk)),
    "as a reply to the owner": lambda by: by.send(by.own, parentId=str(by.first.pk)),
    "as a reply in another community": lambda by: by.send(by.own, parentId=by.elsewhere()),
    "as a quote of the owner": lambda by: by.send(by.own, quoteId=str(by.first.pk)),
    "as a quote from another community": lambda by: by.send(
        by.own, quoteId=str(by.first.pk), communityId=str(by.community.pk)
    ),
    "as an agent": lambda by: by.send(by.agent.api, communityId=str(by.site.community.pk)),
    "as an agent without a community": lambda by: by.send(by.agent.api),
    "as an agent's reply": lambda by: by.send(by.agent.api, parentId=str(by.first.pk)),
    "by MCP": lambda by: Mcp(by.agent.api).call("write_post", url=by.site.url, content=by.text),
    "by MCP as a reply": lambda by: Mcp(by.agent.api).call(
        "write_post", url=by.site.url, content=by.text, replyTo=str(by.first.pk)
    ),
    "by an edit": lambda by: by.own.put(f"/api/messages/{by.innocent.pk}", {"content": by.text}),
    "by an edit elsewhere": lambda by: by.own.put(f"/api/messages/{by.elsewhere()}", {"content": f"{by.text} again"}),
    "as the payload of a tag": lambda by: by.send(
        by.own, content="", tagType="note", payload={"text": by.text}, communityId=str(by.site.community.pk)
    ),
}

# What these store is of no community, or of one of the intruder's.
OUTSIDE = (
    *("without a community", "in another community", "from another widget", "as a reply in another community"),
    *("as a quote of the owner", "as a quote from another community", "as an agent without a community"),
    *("by MCP", "by an edit elsewhere"),
)


def banned(by: Intruder) -> None:
    ban_account(community_id=by.site.community.pk, account_id=by.person.pk, by=by.site.owner)


def changed(**rules: Any) -> Callable[[Intruder], None]:
    def change(by: Intruder) -> None:
        change_rules(community_id=by.site.community.pk, changes=rules, by=by.site.owner)

    return change


BAN, REVIEW = "the person is banned", "posts of everyone are reviewed"
RULES: dict[str, Callable[[Intruder], None]] = {
    "agents are off and a word is blocked": changed(agents_may_post=False, blocked_words=[BLOCKED]),
    BAN: banned,
    REVIEW: changed(pre_moderation="everyone"),
    "nobody may write": changed(read_only=True),
}


def an_intruder(site: Site, folder: Path) -> Intruder:
    """A person who has written in the community before, with an agent."""
    person, mine = PersonFactory(), {"communityId": str(site.community.pk)}
    return Intruder(
        site,
        first=site.post(site.owner, "own", **mine),
        innocent=site.post(person, "innocent", **mine),
        person=person,
        agent=agent_with_token(requester=person),
        community=create_community(owner=person, name="Theirs"),
        folder=folder,
    )
