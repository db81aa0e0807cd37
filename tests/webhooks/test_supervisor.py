"""`make run` with WEBHOOKS=1 runs `deliver_webhooks`, starts it again, and stops it."""

from __future__ import annotations

import time

import psutil
import psycopg

from tests.clients import Clients
from tests.faults.hosts import SECRETS
from tests.service import Service, running_service, runs
from tests.waiting import PATIENCE_SECONDS, eventually
from tests.webhooks.receiver import Receiver, running_receiver


def deliverers(service: Service) -> list[psutil.Process]:
    return service.supervised("deliver_webhooks")


def wait_for_another(service: Service, former: psutil.Process | None = None) -> psutil.Process:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        found = [process for process in deliverers(service) if process != former]
        if found:
            return found[0]
        assert time.monotonic() < deadline, "no deliverer runs"
        time.sleep(0.05)


def test_a_service_delivers_and_survives_kills_of_the_deliverer() -> None:
    with (
        running_receiver() as receiver,
        running_service(**SECRETS, WORKERS="1", WEBHOOKS="1", WEBHOOKS_ALLOW_LOCAL="1") as service,
    ):
        clients = Clients(service)
        owner, page_id = clients.person(), clients.page_id("https://example.com/with-a-webhook")
        clients.manage("create_community", "With a webhook")
        community = community_id(service)
        embed = clients.ask("/api/embeds/instances", {"name": "E", "communityId": community}, **owner.signed_in)
        clients.ask("/v1/webhooks", {"url": receiver.url, "embedId": embed["id"]}, **owner.user)
        first = wait_for_another(service)
        body = {"pageId": page_id, "communityId": community}
        posts = [clients.ask("/api/messages", body | {"content": "before"}, **owner.user)["id"]]
        receiver.wait_for(1)
        first.kill()
        posts += [clients.ask("/api/messages", body | {"content": "after"}, **owner.user)["id"] for _ in range(3)]
        second = wait_for_another(service, first)
        # The event that was being sent at the kill may be repeated.
        deadline = time.monotonic() + PATIENCE_SECONDS
        while arrived(receiver) != posts:
            assert time.monotonic() < deadline, (arrived(receiver), posts)
            time.sleep(0.05)
        began = time.monotonic()
        assert service.stop() == 0
        assert time.monotonic() - began < 30
        assert eventually(lambda: not runs(second))


def test_without_the_setting_no_deliverer_runs() -> None:
    with running_service(WORKERS="1") as service:
        assert deliverers(service) == []


def arrived(receiver: Receiver) -> list[str]:
    return list(dict.fromkeys(request.json["messageId"] for request in receiver.received))


def community_id(service: Service) -> str:
    with psycopg.connect(service.cluster.url) as connection:
        ((found,),) = connection.execute("SELECT id::text FROM messaging_community").fetchall()
    return str(found)
