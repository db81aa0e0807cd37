"""Numbers that grow in public responses: replies, posts of a page, reactions, the message of an embed."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from itertools import count
from typing import Any

from tests.clients import Clients, Person
from tests.consistency.checkers import Subject
from tests.remote import Remote, Reply
from tests.service import ROOT, Service

PEOPLE = 4
MESSAGES = "/api/messages"


def subjects_of(clients: Clients) -> list[Subject]:
    person = clients.person()
    page_id = clients.page_id("https://example.com/consistency")
    post = clients.ask(MESSAGES, {"pageId": page_id, "content": "How fresh is this?"}, **person.user)["id"]
    loved = clients.ask(MESSAGES, {"pageId": page_id, "content": "Love this."}, **person.user)["id"]

    def reply(remote: Remote) -> Reply | None:
        body = {"pageId": page_id, "parentId": post, "content": "Fresh."}
        return remote.call("POST", MESSAGES, body, **person.user)

    def replies_listed(answer: Any) -> int:
        return next(message["replyCount"] for message in answer["messages"] if message["id"] == post)

    return [
        Subject("replies of a post", f"{MESSAGES}/{post}", reply, lambda answer: int(answer["replyCount"])),
        Subject("replies, in the list", f"{MESSAGES}?pageId={page_id}", reply, replies_listed),
        _reactions(clients, loved),
        _embed(clients, person),
    ]


def _reactions(clients: Clients, post: str) -> Subject:
    """Each person reacts once; then the subject is at its maximum."""
    people = iter([clients.person() for _ in range(PEOPLE)])
    lock = threading.Lock()

    def react(remote: Remote) -> Reply | None:
        with lock:
            person = next(people, None)
        if person is None:
            return None
        return remote.call("POST", "/v1/reactions", {"messageId": post, "emoji": "👍"}, **person.user)

    return Subject("reactions", f"/v1/reactions/{post}", react, lambda answer: int(answer["total"]))


def _embed(clients: Clients, owner: Person) -> Subject:
    """Its owner writes consecutive numbers to the message of the trigger."""
    numbers, lock = count(1), threading.Lock()
    community = _community(clients.service)
    path = "/api/embeds/instances"
    embed = clients.ask(path, {"name": "Counter", "communityId": community}, **owner.signed_in)["id"]

    def change(remote: Remote) -> Reply | None:
        with lock:
            body = {"triggerConfig": {"message": str(next(numbers))}}
            return remote.call("PUT", f"{path}/{embed}", body, **owner.signed_in)

    def seen(answer: Any) -> int:
        return int(answer["triggerConfig"]["message"] or 0)

    return Subject("message of an embed", f"/api/embeds/config/{embed}", change, seen)


def _community(service: Service) -> str:
    command = [sys.executable, "manage.py", "create_community", "Readers"]
    created = subprocess.run(command, cwd=ROOT, env=service.environment, check=True, capture_output=True)
    return str(json.loads(created.stdout)["id"])
