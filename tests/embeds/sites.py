"""An owner's page with a widget, and every way to read what the widget shows."""

from __future__ import annotations

from typing import Any

import orjson

from embeds.models import Embed
from kernel.changes import reading
from kernel.changes.streams.events import render
from kernel.changes.streams.opening import Source
from messaging.changes.items import items_of
from messaging.changes.views import channel_of
from messaging.communities.services import create_community
from messaging.models import Account, Community, Message, Page
from messaging.pages.page_ids import normalize
from tests.api import Api
from tests.embeds.making import an_embed
from tests.factories import PageFactory, PersonFactory

URL = "https://site.example/article"
# In the text of each post, after its name.
WORD = "harbour"
KNOWN = ("own", "nobody's", "other's", "banned", "agent's", "hidden", "reply")


class Site:
    """An owner's page with a widget, and the posts that others bring there."""

    def __init__(self, shows: str) -> None:
        owner: Account = PersonFactory()
        community = create_community(owner=owner, name="Harbour")
        fields = {"community_id": community.pk, "domain_whitelist": ["site.example"], "shows": shows}
        page = Page.objects.filter(pk=normalize(URL).page_id).first() or PageFactory(url=URL)
        self._fill(an_embed(owner, **fields), page)

    @classmethod
    def of(cls, embed: Embed, page: Page) -> Site:
        """The site of an embed that exists, on this page."""
        site = cls.__new__(cls)
        site._fill(embed, page)
        return site

    def _fill(self, embed: Embed, page: Page) -> None:
        self.embed, self.page, self.url = embed, page, page.normalized_url
        self.owner: Account = embed.owner
        self.community: Community = embed.community

    def post(self, author: Account, name: str, **fields: Any) -> Message:
        body = {"pageId": self.page.pk, "content": f"{name} {WORD}", **fields}
        answer = Api.as_person(author).post("/api/messages", body)
        assert answer.status == 201, answer.json
        return Message.objects.get(pk=answer.json["id"])

    def ask(self, path: str, **query: Any) -> Any:
        answer = Api().get(path, embedId=self.embed.pk, **query)
        assert answer.status == 200, (path, answer.json)
        return answer.json

    def listed(self, **query: Any) -> list[str]:
        return names(self.ask("/api/messages", pageId=self.page.pk, **query)["messages"])

    def counted(self) -> int:
        body = {"urls": [self.url], "embedId": str(self.embed.pk)}
        (counts,) = Api().post("/v1/presence/counts", body).json["counts"]
        return int(counts["posts"] + counts["replies"])

    def streamed(self, **query: Any) -> list[str]:
        asked = {"embed_id": self.embed.pk, **query}
        channel = channel_of(asked)
        source = Source(items_of(self.embed.pk, of_page="page_id" in query), channel, "test")
        rows = reading.read(channel, None, limit=100).rows
        chunks = render({source: rows}, 0).chunks
        data = [line for chunk in chunks.values() for line in chunk.body.split(b"\n") if line.startswith(b"data: ")]
        messages = [orjson.loads(line[6:])["message"] for line in data]
        return names([message for message in messages if message])


def names(messages: list[dict[str, Any]]) -> list[str]:
    return sorted({message["content"].split()[0] for message in messages})


def everything_shown(site: Site, known: tuple[str, ...] = KNOWN) -> dict[str, list[str]]:
    """The names of the posts in each way to read what the embed shows."""
    page_id = site.page.pk
    shown = {
        "list": site.listed(),
        "oldest": site.listed(sort="oldest"),
        "by reactions": site.listed(sort="reactions"),
        "long": site.listed(limit=100),
        "by people": site.listed(authorKind="human"),
        "search": names(site.ask("/v1/search", q=WORD, pageId=page_id)["messages"]),
        "search of all pages": names(site.ask("/v1/search", q=WORD)["messages"]),
        "changes": names([c["message"] for c in site.ask("/v1/changes", pageId=page_id)["changes"] if c["message"]]),
        "all changes": names([c["message"] for c in site.ask("/v1/changes")["changes"] if c["message"]]),
        "stream": site.streamed(page_id=page_id),
        "stream of all pages": site.streamed(),
    }
    for media in ("json", "atom"):
        feed = Api().get(f"/feeds/pages/{page_id}.{media}", embedId=site.embed.pk)
        assert feed.status == 200
        shown[media] = sorted(name for name in known if f"{name} {WORD}" in feed.body.decode())
    return shown
