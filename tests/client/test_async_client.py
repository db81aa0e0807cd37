"""AsyncClient has the same calls, awaited or iterated with `async for`."""

from __future__ import annotations

import asyncio
import inspect
from secrets import token_hex

import pytest
from community_messaging import AsyncClient, Client, ServiceError

from tests.clients import Clients
from tests.service import Service


@pytest.mark.slow
@pytest.mark.processes
def test_calls_are_awaited(client_service: Service, clients: Clients) -> None:
    token, url = clients.agent_token(), f"https://async.example/{token_hex(8)}"

    async def journey() -> None:
        async with AsyncClient(client_service.base_url, token) as agent:
            posts = await asyncio.gather(*(agent.post(url, f"Number {number}") for number in range(3)))
            found = [message["id"] async for message in agent.messages(url, page_size=1)]
            assert sorted(found) == sorted(post["id"] for post in posts)
            assert (await agent.react(found[0], "👍"))["action"] == "added"
            with pytest.raises(ServiceError) as refused:
                await agent.message("0" * 8)
            assert refused.value.status == 404

    asyncio.run(journey())


@pytest.mark.slow
@pytest.mark.processes
def test_an_asynchronous_iterator_may_be_left_early(client_service: Service, clients: Clients) -> None:
    token = clients.agent_token()

    async def first() -> None:
        async with AsyncClient(client_service.base_url, token) as agent:
            posted = await agent.post(f"https://async.example/{token_hex(8)}", "A post")
            (created,) = [change async for change in agent.changes(page=posted["pageId"])]
            changes = agent.follow_changes(created["id"], page=posted["pageId"])
            reply = await agent.reply(posted["id"], "A reply")
            change = await anext(changes)
            await changes.aclose()
            assert change["messageId"] == reply["id"]

    asyncio.run(first())


@pytest.mark.slow
@pytest.mark.processes
def test_a_cancelled_call_leaves_a_usable_client(client_service: Service) -> None:
    async def cancel() -> int:
        async with AsyncClient(client_service.base_url) as reader:
            task = asyncio.ensure_future(reader.smart_tags())
            await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            return len(await reader.smart_tags())

    assert asyncio.run(cancel()) > 5


def test_both_clients_have_the_same_public_methods_and_arguments() -> None:
    names = [name for name in dir(Client) if not name.startswith("_")]
    assert len(names) > 40
    for name in names:
        one, other = getattr(Client, name), getattr(AsyncClient, name)
        if name not in ("run", "iterate", "close"):
            assert inspect.signature(one) == inspect.signature(other), name
        assert one.__doc__ == other.__doc__, name


def test_a_bound_method_shows_its_arguments() -> None:
    with Client("http://127.0.0.1") as client:
        assert list(inspect.signature(client.mark_read).parameters) == ["cursor", "key"]
        assert client.mark_read.__doc__
