"""The inbox of a caller, for tests."""

from __future__ import annotations

from typing import Any

from tests.api import Api


def inbox(caller: Api, **query: Any) -> Any:
    answer = caller.get("/v1/inbox", **query)
    assert answer.status == 200, answer.json
    return answer.json


def events(caller: Api, **query: Any) -> list[Any]:
    found: list[Any] = inbox(caller, **{"limit": 100} | query)["events"]
    return found


def types(caller: Api, **query: Any) -> list[str]:
    return [event["type"] for event in events(caller, **query)]
