"""Nothing that the rules of a site's community forbid appears in what its widget shows, whichever way it is sent.

An owner switches agents off, bans a person, blocks a word and has the posts of everyone reviewed, each in turn. Then
others try to get a post onto the page with the whole public API, and with communities and embeds of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from messaging.models import Account, Community, Message
from messaging.services.bans import ban_account
from messaging.services.communities import create_community
from messaging.services.moderating import change_rules
from tests.agents.factories import TokenHolder, agent_with_token
from tests.api import Answer, Api
from tests.embeds.making import an_embed
from tests.embeds.sites import URL, WORD, Site, everything_shown
from tests.factories import PersonFactory
from tests.mcp_server.rpc import Mcp
from tests.moving.imports.importing import import_own

pytestmark = pytest.mark.django_db(transaction=True)
BLOCKED = "casino"
TEXT = f"intruder {WORD} {BLOCKED}"


@dataclass
class Intruder:
    """A person with an agent, a community and an embed, which the owner has banned, and the owner's site."""

    site: Site
    # By the owner, and by the intruder before.
    first: Message
    innocent: Message
    person: Account
    agent: TokenHolder
    community: Community
    folder: Path

    @property
    def own(self) -> Api:
        return Api.as_person(self.person)

    def send(self, api: Api, **fields: Any) -> Answer:
        headers = fields.pop("headers", None)
        return api.post("/api/messages", {"pageId": self.site.page.pk, "content": TEXT} | fields, headers=headers)

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


# Each sends a text that the owner forbids.
WAYS: dict[str, Callable[[Intruder], Any]] = {
    "without a community": lambda by: by.send(by.own),
    "in another community": lambda by: by.elsewhere(),
    "in the owner's community": lambda by: by.send(by.own, communityId=str(by.site.community.pk)),
    "from the owner's widget": lambda by: by.send(by.own, headers=as_header(by.site)),
    "from another widget": lambda by: by.send(by.own, headers=by.embed_of_theirs()),
    "from another widget into the owner's community": lambda by: by.send(
        by.own, headers=by.embed_of_theirs(), communityId=str(by.site.community.pk)
    ),
    "as a reply to the owner": lambda by: by.send(by.own, parentId=str(by.first.pk)),
    "as a reply in another community": lambda by: by.send(by.own, parentId=by.elsewhere()),
    "as a quote of the owner": lambda by: by.send(by.own, quoteId=str(by.first.pk)),
    "as a quote from another community": lambda by: by.send(
        by.own, quoteId=str(by.first.pk), communityId=str(by.community.pk)
    ),
    "as an agent": lambda by: by.send(by.agent.api, communityId=str(by.site.community.pk)),
    "as an agent without a community": lambda by: by.send(by.agent.api),
    "as an agent's reply": lambda by: by.send(by.agent.api, parentId=str(by.first.pk)),
    "by MCP": lambda by: Mcp(by.agent.api).call("write_post", url=URL, content=TEXT),
    "by MCP as a reply": lambda by: Mcp(by.agent.api).call(
        "write_post", url=URL, content=TEXT, replyTo=str(by.first.pk)
    ),
    "by an edit": lambda by: by.own.put(f"/api/messages/{by.innocent.pk}", {"content": TEXT}),
    "by an edit elsewhere": lambda by: by.own.put(f"/api/messages/{by.elsewhere()}", {"content": f"{TEXT} again"}),
    "as the payload of a tag": lambda by: by.send(
        by.own, content="", tagType="note", payload={"text": TEXT}, communityId=str(by.site.community.pk)
    ),
}


def banned(by: Intruder) -> None:
    ban_account(community_id=by.site.community.pk, account_id=by.person.pk, by=by.site.owner)


def changed(**rules: Any) -> Callable[[Intruder], None]:
    def change(by: Intruder) -> None:
        change_rules(community_id=by.site.community.pk, changes=rules, by=by.site.owner)

    return change


RULES: dict[str, Callable[[Intruder], None]] = {
    "agents are off and a word is blocked": changed(agents_may_post=False, blocked_words=[BLOCKED]),
    "the person is banned": banned,
    "posts of everyone are reviewed": changed(pre_moderation="everyone"),
    "nobody may write": changed(read_only=True),
}


@pytest.fixture
def by(tmp_path: Path) -> Intruder:
    site, person = Site("community"), PersonFactory()
    mine = {"communityId": str(site.community.pk)}
    return Intruder(
        site,
        first=site.post(site.owner, "own", **mine),
        innocent=site.post(person, "innocent", **mine),
        person=person,
        agent=agent_with_token(requester=person),
        community=create_community(owner=person, name="Theirs"),
        folder=tmp_path,
    )


@pytest.mark.parametrize("rule", RULES)
def test_no_way_leads_around_a_rule(by: Intruder, rule: str) -> None:
    RULES[rule](by)
    site = by.site
    for way, attempt in WAYS.items():
        before = set(Message.objects.values_list("pk", flat=True))
        attempt(by)
        shown = everything_shown(site, known=("own", "intruder"))
        assert all("intruder" not in names for names in shown.values()), (way, shown)
        assert site.listed(parentId=by.first.pk) == [], way
        # What was stored in the community waits for its moderators.
        stored = Message.objects.exclude(pk__in=before).filter(community=site.community)
        assert set(stored.values_list("status", flat=True)) <= {"pending"}, way
        queue = Api.as_person(site.owner).get("/v1/moderation/queue", communityId=site.community.pk, limit=100).json
        assert {str(post.pk) for post in stored} <= {message["id"] for message in queue["messages"]}, way
    assert site.counted() <= 2
    people = site.ask("/v1/presence/participants", pageId=site.page.pk)["participants"]
    assert by.agent.account.handle not in {person["handle"] for person in people}


def test_an_import_of_another_community_is_not_shown(by: Intruder) -> None:
    post = {"id": "1", "content": TEXT, "pageUrl": URL}
    import_own(by.folder / "posts.jsonl", by.community, post)
    assert all("intruder" not in names for names in everything_shown(by.site, known=("own", "intruder")).values())


def test_what_the_rules_allow_is_shown_in_every_way(by: Intruder) -> None:
    """The bystander of the tests above."""
    community = {"communityId": str(by.site.community.pk)}
    by.sent(by.own, **community)
    by.sent(by.agent.api, **community)
    shown = everything_shown(by.site, known=("own", "intruder"))
    assert all("intruder" in names for way, names in shown.items()), shown


def test_nobody_moderates_or_changes_what_the_site_of_another_shows(by: Intruder) -> None:
    site, post, embed = by.site, by.first.pk, f"/api/embeds/instances/{by.site.embed.pk}"
    own = f"/v1/moderation/communities/{by.community.pk}"
    theirs = f"/v1/moderation/communities/{site.community.pk}"
    signed_in = Api.as_signed_in(by.person)
    before = everything_shown(site, known=("own", "innocent"))
    refused = [
        by.own.post(f"{theirs}/hidden", {"messageId": by.elsewhere()}),
        by.own.delete(f"{theirs}/hidden/{post}"),
        by.own.post(f"/v1/moderation/messages/{post}/hide", {}),
        by.own.put(theirs, {"rules": {"readOnly": True}}),
        by.own.post(f"{theirs}/bans", {"accountId": str(site.owner.pk), "reason": "x"}),
        signed_in.put(embed, {"shows": "everyone"}),
        signed_in.delete(embed),
    ]
    assert {answer.status for answer in refused} == {403}, [answer.json for answer in refused]
    # On pages of one's own community, posts of others can be hidden, which changes no other site.
    assert by.own.post(f"{own}/hidden", {"messageId": str(post)}).status == 200
    assert by.own.post(f"{own}/bans", {"accountId": str(site.owner.pk), "reason": "x"}).status == 200
    assert everything_shown(site, known=("own", "innocent")) == before
