"""A site that signs its readers in, as its own server would: with PyJWT and the secret of its embed."""

from __future__ import annotations

import time
from typing import Any
from uuid import uuid4

import jwt

from embeds.models import Embed, SiteAccount
from embeds.services import update_embed
from embeds.site_accounts.keys import rotate_secret
from messaging.communities.moderators import appoint
from messaging.models import Account, Community
from tests.api import Answer, Api
from tests.embeds.making import an_embed
from tests.factories import CommunityFactory, PageFactory, PersonFactory

EXCHANGE = "/api/auth/site-token"


def own_community(owner: Account, **fields: Any) -> Community:
    """A community that the owner moderates."""
    community = CommunityFactory(**fields)
    appoint(community, owner)
    return community


class Site:
    """An embed of a moderator whose site has a secret."""

    def __init__(self, community: Community | None = None, embed: Embed | None = None, **fields: Any) -> None:
        """`embed`: one that exists, whose owner has to moderate its community."""
        self.owner = embed.owner if embed else PersonFactory()
        self.community = embed.community if embed else community or CommunityFactory()
        appoint(self.community, self.owner)
        fields = {"sign_in": "own"} | fields
        self.embed = embed or an_embed(self.owner, community_id=self.community.pk, **fields)
        if embed:
            update_embed(embed_id=embed.pk, owner=self.owner, **fields)
        self.secret = rotate_secret(embed_id=self.embed.pk, owner=self.owner)[1]
        self.api = Api.as_signed_in(self.owner)
        self.path = f"/api/embeds/instances/{self.embed.pk}"

    def claims(self, **changes: Any) -> dict[str, Any]:
        """Those of a good token; None leaves one out."""
        now = int(time.time())
        of_reader = {"aud": str(self.embed.pk), "sub": "42", "name": "Ada Lovelace"}
        claims = {**of_reader, "iat": now, "exp": now + 600, "jti": uuid4().hex, **changes}
        return {name: value for name, value in claims.items() if value is not None}

    def token(self, *, key: Any = None, algorithm: str = "HS256", headers: Any = None, **changes: Any) -> str:
        return jwt.encode(self.claims(**changes), key or self.secret, algorithm=algorithm, headers=headers)

    def body(self, token: str = "") -> dict[str, str]:
        """That of an exchange; without a token, of a good one."""
        return {"embedId": str(self.embed.pk), "token": token or self.token()}

    def send(self, token: str) -> Answer:
        return Api().post(EXCHANGE, self.body(token))

    def sign_in(self, **changes: Any) -> Any:
        """The response to a good token."""
        answer = self.send(self.token(**changes))
        assert answer.status == 200, answer.json
        return answer.json

    def reader(self, **changes: Any) -> Api:
        """The panel of a reader who is signed in."""
        signed_in = self.sign_in(**changes)
        return Api({"Authorization": f"Bearer {signed_in['token']}", "X-User-Id": signed_in["userId"]})

    def account(self, subject: str = "42") -> SiteAccount:
        return SiteAccount.objects.select_related("account").get(community=self.community, subject=subject)

    def write(self, reader: Api, **body: Any) -> Answer:
        """A post in the widget."""
        headers = {"x-service-embed-id": str(self.embed.pk)}
        page = {} if "pageId" in body else {"pageId": PageFactory().pk}
        return reader.post("/api/messages", {**page, "content": "Hello.", **body}, headers=headers)
