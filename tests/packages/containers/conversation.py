"""Posts through the proxy of deploy/cluster, while its hosts are stopped and started."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from tests.packages.containers.engine import Engine

ADDRESS = "http://localhost:8080"
PATIENCE_SECONDS = 600
EXITED = "exited 0"


def hold(engine: Engine) -> None:
    writer = _writer(engine)
    page = send("/v1/presence/normalize-url", {"url": "https://example.com/containers"})[1]["pageId"]
    first = _post(page, writer, "one")
    assert first[0] == 201, first
    for service, other in (("one", "two"), ("two", "one")):
        assert _state_after_stop(engine, service) == EXITED
        assert _post(page, writer, "one") == first, f"{other} does not replay"
        another = _post(page, writer, f"while {service} is stopped")
        assert another[0] == 201, another
        engine.run("podman", "start", f"cluster_{service}_1")
        wait_until_ready()
    engine.compose("stop")
    # podman-compose starts all containers at once, and ignores that one whose dependency is just being started fails.
    wait_until_ready(before=lambda: engine.compose("start"))
    assert _post(page, writer, "one") == first
    texts = [each["content"] for each in send(f"/api/messages?pageId={page}")[1]["messages"]]
    assert texts == ["while two is stopped", "while one is stopped", "one"], texts


def wait_until_ready(before: Callable[[], object] = lambda: None) -> None:
    """`before` is called before each look."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    expected = {"ready": True, "missing": [], "degraded": [], "draining": False}
    before()
    while (last := send("/readyz")) != (200, expected):
        assert time.monotonic() < deadline, last
        time.sleep(1)
        before()


def send(path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
    """Status and body; 0 if nothing answers."""
    data = None if body is None else json.dumps(body).encode()
    request = Request(ADDRESS + path, data, {"Content-Type": "application/json"} | headers)
    try:
        with urlopen(request, timeout=20) as response:
            return response.status, json.loads(response.read())
    except HTTPError as error:
        return error.code, json.loads(error.read())
    except (URLError, OSError):
        return 0, None


def _writer(engine: Engine) -> dict[str, str]:
    """The headers of a person."""
    manage = ("community-messaging", "manage")
    engine.inside("one", *manage, "create_person", "reader", "--password", "a-long-passphrase-of-a-reader")
    printed = json.loads(engine.inside("two", *manage, "issue_user_token", "reader", "--json").splitlines()[0])
    return {"Authorization": f"Bearer {printed['token']}", "X-User-Id": printed["userId"]}


def _post(page: str, writer: dict[str, str], text: str) -> tuple[int, Any]:
    """With the text as the key. As clients do, it repeats a post that met a host that had just stopped."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    body, headers = {"pageId": page, "content": text}, writer | {"Idempotency-Key": text}
    while (answer := send("/api/messages", body, **headers))[0] in (0, 503):
        assert time.monotonic() < deadline, answer
        time.sleep(1)
    return answer


def _state_after_stop(engine: Engine, service: str) -> str:
    name = f"cluster_{service}_1"
    engine.run("podman", "stop", "--time", "30", name)
    return engine.run("podman", "inspect", "--format", "{{.State.Status}} {{.State.ExitCode}}", name).splitlines()[-1]
