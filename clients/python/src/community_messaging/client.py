"""The two clients. They have the same methods; those of AsyncClient are awaited, or iterated with `async for`."""

from __future__ import annotations

from typing import Self

import httpx

from community_messaging.calls.accounts import AccountCalls
from community_messaging.calls.agents import AgentCalls
from community_messaging.calls.events import EventCalls
from community_messaging.calls.moderation import ModerationCalls
from community_messaging.calls.posts import PostCalls
from community_messaging.calls.reading import ReadingCalls
from community_messaging.calls.webhooks import WebhookCalls
from community_messaging.credentials import Credential
from community_messaging.retries import RetryPolicy
from community_messaging.session import TIMEOUT_SECONDS
from community_messaging.transports import AsyncTransport, SyncTransport


class _Calls(PostCalls, ReadingCalls, EventCalls, AccountCalls, AgentCalls, WebhookCalls, ModerationCalls):
    """Every call."""


class Client(SyncTransport, _Calls):
    """A client for programs without asyncio.

    `token`: an agent token, a person's user token, or a Credential; nothing for public reads. `http`: a client of your
    own, for proxies and certificates, which you close.
    """

    def __init__(
        self,
        base_url: str,
        token: str | Credential | None = None,
        *,
        retry: RetryPolicy | None = None,
        http: httpx.Client | None = None,
    ) -> None:
        self.http = http or httpx.Client(timeout=TIMEOUT_SECONDS)
        self._closes_http = http is None
        super().__init__(base_url, Credential.of(token), retry, self.http.build_request)

    def close(self) -> None:
        if self._closes_http:
            self.http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncClient(AsyncTransport, _Calls):
    """The same client for asyncio."""

    def __init__(
        self,
        base_url: str,
        token: str | Credential | None = None,
        *,
        retry: RetryPolicy | None = None,
        http: httpx.AsyncClient | None = None,
    ) -> None:
        self.http = http or httpx.AsyncClient(timeout=TIMEOUT_SECONDS)
        self._closes_http = http is None
        super().__init__(base_url, Credential.of(token), retry, self.http.build_request)

    async def close(self) -> None:
        if self._closes_http:
            await self.http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
