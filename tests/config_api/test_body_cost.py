"""A body of at most 1 MiB costs less than a tenth of a second, of any shape and at any operation.

The bound is twice that: processes beside the test slow its work down. It grows with the loop of `tests.machine_speed`.
"""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import orjson
import pytest

from kernel.api.bodies import BODY_MAX, CONTAINERS_MAX, parse_json
from kernel.api.exceptions import ApiError
from kernel.api.operations import all_operations
from tests.agents.factories import agent_with_token
from tests.api import Api
from tests.factories import PersonFactory
from tests.machine_speed import scaled

pytestmark = pytest.mark.django_db
SECONDS = 0.2
# Operations get a part of the largest body, for twice that part of the time, because a request has a cost of its own.
# A cost that grows faster than the body is far over it.
PART = 8
PART_SECONDS = 2 * SECONDS / PART
# A refusal lists every wrong entry of a list of 800, and repeats no input.
ANSWER_MAX = 100_000
# The fastest of several calls: a busy machine slows down some of them, a slow shape all.
TRIES = 5
UNITS = [
    *(b"[]", b"{}", b"[[]]", b"1", b"-1", b"1.5", b"1e-7", b'""', b"true", b"null", b'{"a":1}', b'{"a":1,"a":1}'),
    *(b'{"a":[]}', b"[" * 31 + b"]" * 31, b"[" * 40 + b"]" * 40, b'"\\u003a"', b'"[{"', b"9223372036854775807"),
]
ESCAPES = [rb"\n", rb"\\", rb"\"", rb"\u0041", rb"\u003a", rb"\"[", rb"\\[", b":", b"[", "é".encode()]
OPEN = [b"[", b"{", b"]", b'"', b'{"a":', b'{"a":[', b'["', b"\\", b'"\\', b"1", b"1,", b"[1,", b"9", b"0."]


def filled(unit: bytes, start: bytes = b"", end: bytes = b"", size: int = BODY_MAX) -> bytes:
    return start + unit * ((size - len(start) - len(end)) // len(unit)) + end


def listed(units: list[bytes]) -> bytes:
    """An array of as many of these as fit into a body."""
    return b"[" + b",".join(units)[: BODY_MAX - 2].rpartition(b",")[0] + b"]"


BODIES = {
    **{f"many {unit[:40]!r}": listed([unit] * (BODY_MAX // len(unit))) for unit in UNITS},
    **{f"a string of {escape!r}": filled(escape, b'["', b'"]') for escape in ESCAPES},
    **{f"nothing but {unit!r}": filled(unit) for unit in OPEN},
    "as many containers as may be": listed([b"[[[]]]"] * (CONTAINERS_MAX // 3 - 1)),
    "distinct tiny numbers": listed([b"%de-21" % number for number in range(1, 200_000)]),
    "distinct keys": b"{" + listed([b'"%d":1' % number for number in range(150_000)])[1:-1] + b"}",
    "one key, in two spellings": b"{" + listed([b'"a":1', rb'"\u0061":1'] * 60_000)[1:-1] + b"}",
    "NUL at the end": filled(rb"\\", b'["', rb"\u0000" + b'"]'),
    "nested to the bottom": filled(b"[", end=filled(b"]", size=BODY_MAX // 2)),
}


@pytest.mark.slow
def test_the_parser_is_fast_for_every_shape() -> None:
    """The shapes reach every check of the parser: some are accepted, some refused."""
    timed = {name: best_time(partial(parses, body), SECONDS) for name, body in BODIES.items()}
    assert {name: seconds for name, (seconds, _accepted) in timed.items() if is_slow(seconds, SECONDS)} == {}
    assert {accepted for _seconds, accepted in timed.values()} == {True, False}


def best_time(call: Callable[[], Any], enough: float) -> tuple[float, Any]:
    """(CPU seconds of this thread, result of the call)."""
    best = math.inf
    for _ in range(TRIES):
        start = time.thread_time()
        returned = call()
        best = min(best, time.thread_time() - start)
        if best < enough:
            break
    return best, returned


def is_slow(seconds: float, bound: float) -> bool:
    return seconds > bound and seconds > scaled(bound)


def parses(body: bytes) -> bool:
    try:
        parse_json(body)
    except ApiError:
        return False
    return True


PERSON = (
    *("requestAgent", "approveAgentRequest", "rejectAgentRequest", "createAgentToken", "revokeAgentToken"),
    *("rotateAgentToken", "createWebhook", "readInbox"),
)
SIGNED_IN = ("createEmbedInstance", "updateEmbedInstance", "putEmbedBlacklist")
# Values that fill a field.
VALUES: dict[str, Any] = {
    "a long text": "a." * (500_000 // PART),
    "many numbers": [1] * (500_000 // PART),
    "many choices": ["post"] * (140_000 // PART),
    "many texts": [f"{number}.eu" for number in range(90_000 // PART)],
    "many long hosts": ["ü." * 50 + str(number) for number in range(800)],
    "many lists": [[] for _ in range((CONTAINERS_MAX - 2) // PART)],
    "an object": {str(number): number for number in range(70_000 // PART)},
    "parts of an object": {"patterns": ["*a"] * (180_000 // PART), "type": "patterns", "color": "#" * 10_000},
    "many objects": [{"type": "image", "url": "https://a.eu"}] * ((CONTAINERS_MAX - 2) // PART),
}


@pytest.fixture(autouse=True, scope="module")
def _small_heap() -> None:
    """Hide the objects of the tests from the garbage collector: the service does not have them."""
    gc.collect()
    gc.freeze()


@pytest.mark.parametrize("name", VALUES)
def test_every_operation_is_fast_with_a_full_body(name: str, settings: Any) -> None:
    settings.SOFT_THROTTLES, settings.WEBHOOKS = dict.fromkeys(settings.SOFT_THROTTLES, (10**9, 3600)), True
    person = PersonFactory(is_superuser=True)
    callers = dict.fromkeys(PERSON, Api.as_person(person)) | dict.fromkeys(SIGNED_IN, Api.as_signed_in(person))
    callers |= dict.fromkeys(("createMessage", "addReaction"), agent_with_token(requester=person).api)
    slow, long = [], []
    for path, method, operation in all_operations():
        url = "/" + path.replace("<str:id>", "0199f000-0000-7000-8000-000000000000")
        for field in operation.body().fields if operation.body else ():
            body = orjson.dumps({field: VALUES[name]})
            assert len(body) <= BODY_MAX // PART
            call = partial(callers.get(operation.id, Api()).send, method, url, raw=body, key="a key")
            seconds, response = best_time(call, PART_SECONDS)
            assert response.status < 500
            if is_slow(seconds, PART_SECONDS):
                slow.append((operation.id, field, seconds))
            if len(response.body) > ANSWER_MAX:
                long.append((operation.id, field, len(response.body)))
    assert (slow, long) == ([], [])
