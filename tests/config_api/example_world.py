"""The rows that the examples of the OpenAPI document are about, and who calls each operation."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from time import time
from typing import Any
from uuid import uuid4

import jwt

from agents.services import create_token
from embeds.host_proofs import add_host
from embeds.models import Embed, Sighting
from embeds.services import set_blacklist, update_embed
from embeds.site_accounts.keys import rotate_secret
from messaging.models import Account, Ban, ClosedPage, Community, HiddenHere, Message, Moderator, Page, Pin, Webhook
from messaging.serializer_fields import EXAMPLE_PAGE_URL
from moving.models import ImportedPost, Move, MoveStatus
from oauth.models import OAuthClient
from tests.agents.factories import ApprovedFactory, RequestFactory, TokenHolder
from tests.api import Api
from tests.embeds.making import an_embed
from tests.factories import CommunityFactory, MessageFactory, PageFactory, PersonFactory, SuperAdminFactory
from tests.oauth.consents import program_let_in
from tests.webhooks.making import a_webhook

PASSWORD = "a long enough passphrase"
CONTENT = "Well said."
REQUEST = {
    "agent_name": "Library Helper",
    "agent_handle": "library_helper",
    "purpose": "Answers questions about our books.",
    "scopes": ["post", "reply"],
}


@dataclass(frozen=True, slots=True)
class Call:
    """Who sends the example of an operation, and the real values for the generated ones in it."""

    api: Api
    id: Any = None
    cursor: str = ""
    token: str = ""
    query: dict[str, Any] = field(default_factory=dict)


class ExampleWorld:
    """Rows are created when they are first used: a list shows one row, and a handle is free until then."""

    @cached_property
    def ada(self) -> Account:
        return PersonFactory(handle="ada", name="Ada Lovelace", password=PASSWORD)

    @cached_property
    def page(self) -> Page:
        return PageFactory(url=EXAMPLE_PAGE_URL)

    @cached_property
    def community(self) -> Community:
        """Let Ada moderate the community, as one that she has created."""
        community: Community = CommunityFactory(name="Harbour Gazette", slug="harbour-gazette", embedding="moderators")
        Moderator.objects.create(community=community, account=self.ada)
        return community

    @cached_property
    def post(self) -> Message:
        return MessageFactory(page=self.page, author=self.ada, content=CONTENT)

    def misspelt(self) -> Any:
        """A post whose content the example of an edit corrects."""
        Message.objects.filter(pk=self.post.pk).update(content="Well siad.")
        return self.post.pk

    @cached_property
    def agent(self) -> TokenHolder:
        request = ApprovedFactory(requester=self.ada, **REQUEST)
        assert request.agent is not None
        token, value = create_token(request_id=request.pk, by=self.ada, label="laptop")
        return TokenHolder(request, request.agent, token, value)

    @cached_property
    def draft(self) -> Message:
        return MessageFactory(
            page=self.page,
            author=self.agent.account,
            author_kind="agent",
            content=CONTENT,
            status="pending",
            operator_review="waiting",
        )

    def draft_of_its_id(self) -> Any:
        """The examples of a path have one id for the agent and its post."""
        Message.objects.filter(pk=self.draft.pk).update(id=self.agent.agent.pk)
        return self.agent.agent.pk

    @cached_property
    def program(self) -> OAuthClient:
        return program_let_in(self.agent.agent)[0]

    @cached_property
    def pending(self) -> Any:
        return RequestFactory(requester=self.ada, **REQUEST)

    @cached_property
    def embed(self) -> Embed:
        return an_embed(
            self.ada, name="Article pages", community_id=self.community.pk, domain_whitelist=["example.com"]
        )

    def with_secret(self) -> Any:
        """The embed, with a secret of its site."""
        rotate_secret(embed_id=self.embed.pk, owner=self.ada)
        return self.embed.pk

    def site_token(self) -> str:
        """A token of a reader of the same name."""
        update_embed(embed_id=self.embed.pk, owner=self.ada, sign_in="own")
        secret = rotate_secret(embed_id=self.embed.pk, owner=self.ada)[1]
        now = int(time())
        reader = {"aud": str(self.embed.pk), "sub": "42", "name": self.ada.name}
        return jwt.encode({**reader, "iat": now, "exp": now + 600, "jti": "1"}, secret)

    @cached_property
    def webhook(self) -> Webhook:
        webhook = a_webhook(self.agent, url="https://example.com/hook", types=["reply"])
        webhook.deliveries.create(event_id=uuid4(), type="reply", attempt=1, status_code=204, duration_ms=42)
        return webhook

    @property
    def person(self) -> Api:
        return Api.as_person(self.ada)

    @property
    def moderator(self) -> Api:
        """Ada, who moderates the community."""
        return self.person

    @property
    def signed_in(self) -> Api:
        return Api.as_signed_in(self.ada)

    @property
    def super_admin(self) -> Api:
        return Api.as_person(SuperAdminFactory(handle="grace", name="Grace Hopper"))

    def reacted(self) -> str:
        """The id of Ada's reaction to the post."""
        answer = self.person.post("/v1/reactions", {"messageId": str(self.post.pk), "emoji": "👍"})
        return str(answer.json["reactionId"])

    def in_community(self) -> Any:
        """The id of the community, in which there is one post."""
        MessageFactory(page=self.page, author=self.ada, content=CONTENT, community=self.community)
        return self.community.pk

    def imported(self) -> Any:
        """The id of the embed, in whose community a post was imported."""
        move = Move.objects.create(community=self.community, format="wordpress", status=MoveStatus.DONE, size=1)
        post = MessageFactory(page=self.page, author=self.ada, community=self.community)
        ImportedPost.objects.create(
            community=self.community, format=move.format, source_id="501", move=move, message_id=post.pk
        )
        return self.embed.pk

    def reported(self) -> Any:
        return self.post.reports.create(reporter=PersonFactory(), reason="spam").pk

    def in_community_as(self, status: str) -> Any:
        """The id of a post of the community."""
        return MessageFactory(page=self.page, author=self.ada, community=self.community, status=status).pk

    def pinned(self) -> Any:
        post = MessageFactory(page=self.page, author=self.ada, community=self.community)
        return Pin.objects.create(message=post, page=self.page, community=self.community).message_id

    def closed(self) -> Any:
        return ClosedPage.objects.create(page=self.page, community=self.community).community_id

    def only_id(self, row: type[Ban | Moderator] | None = None) -> Any:
        """The id of both Ada and the community, since the examples have one id; `row` connects them."""
        ada = PersonFactory(handle="ada", name="Ada Lovelace")
        community = CommunityFactory(pk=ada.pk)
        if row is not None:
            row.objects.create(community=community, account=ada)
        return ada.pk

    def foreign_id(self, *, is_hidden: bool = False) -> Any:
        """The id of both a post of others and a community, which may hide it on its pages."""
        post = MessageFactory()
        community = CommunityFactory(pk=post.pk)
        if is_hidden:
            HiddenHere.objects.create(community=community, message=post)
        return post.pk

    def embed_with_id_of_community(self) -> Any:
        """Give the embed the id of its community, as `only_id` does for accounts."""
        embed_id = self.embed.pk
        Embed.objects.filter(pk=embed_id).update(id=self.community.pk)
        return self.community.pk

    def written(self) -> str:
        """The id of the post, created through the API, which records the change."""
        answer = self.person.post("/api/messages", {"pageId": self.page.pk, "content": CONTENT})
        return str(answer.json["id"])

    def with_blacklist(self) -> Any:
        set_blacklist(embed_id=self.embed.pk, owner=self.ada, domains=["ads.example.com"])
        return self.embed.pk

    def loaded(self) -> Any:
        """The id of the community whose embed was loaded on the host of the page."""
        Sighting.objects.create(embed_id=self.embed.pk, host="example.com", is_refused=False)
        return self.community.pk

    def with_host(self) -> Any:
        """The id of the community, which proves one host."""
        add_host(community_id=self.community.pk, host="blog.example", by=SuperAdminFactory())
        return self.community.pk

    def clicked(self) -> Any:
        """The id of the embed, which has one click."""
        event = {"serviceId": str(self.embed.pk), "event": "trigger_click", "pageUrl": EXAMPLE_PAGE_URL}
        assert Api().post("/api/embeds/analytics/events", event).status == 201
        return self.embed.pk
