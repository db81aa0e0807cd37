"""Rule 2: agent tokens are default-deny for writes. Every route and unsafe method is walked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest
from django.http import HttpRequest, HttpResponse
from django.test import Client, override_settings
from django.urls import URLPattern, URLResolver, get_resolver, path, resolve

from config.api.operations import operation_of
from tests.agents.factories import TokenHolder, agent_with_token
from tests.api import Api

pytestmark = pytest.mark.django_db
UNSAFE = ["POST", "PUT", "PATCH", "DELETE", "PROPFIND"]
# The writes that need no token and so take any that is valid; everything else an agent may write bears scopes.
PUBLIC_WRITES = {("POST", "/v1/presence/normalize-url"), ("POST", "/api/embeds/analytics/events")}
SAMPLES = {"str": "x", "int": "1", "slug": "x", "uuid": str(UUID(int=7)), "path": "x"}


def routes() -> Iterator[tuple[str, Any]]:
    """(a path that leads there, view) of every route of the service, the admin's included."""
    yield from _routes(get_resolver().url_patterns, "")


def _routes(patterns: list[URLPattern | URLResolver], prefix: str) -> Iterator[tuple[str, Any]]:
    for pattern in patterns:
        here = prefix + sample(str(pattern.pattern))
        if isinstance(pattern, URLResolver):
            yield from _routes(pattern.url_patterns, here)
        else:
            yield "/" + here, pattern.callback


def sample(route: str) -> str:
    """A path that a route matches: `a/<str:id>` → `a/x`; of a regular expression the first alternative."""
    route = re.sub(r"\(\?P<\w+>\.\*\)", "x", route)
    route = re.sub(r"\(\?P<\w+>(\w+)(\|\w+)*\)", r"\1", route).strip("^$")
    return re.sub(r"<(?:(\w+):)?\w+>", lambda found: SAMPLES[found[1] or "str"], route)


@pytest.fixture
def held() -> TokenHolder:
    return agent_with_token()


def test_every_sample_path_leads_to_its_view() -> None:
    walked = list(routes())
    assert len(walked) > 50
    for url, view in walked:
        assert resolve(url).func is view or resolve(url).func.__qualname__ == view.__qualname__, url


def test_every_write_without_a_scope_refuses_an_agent(held: TokenHolder, settings: Any) -> None:
    """Without a declared scope an all-scopes token gets 403 agent_route_not_allowed, before CSRF and parsers."""
    settings.SOFT_THROTTLES = settings.SOFT_THROTTLES | {"agent_refused": (10**6, 60)}
    client, admitted = Client(enforce_csrf_checks=True), set()
    for url, _view in routes():
        for method in UNSAFE:
            declared = operation_of(resolve(url).func, method)
            if (method, url) in PUBLIC_WRITES or (declared is not None and declared.scopes):
                admitted.add((method, url))
                continue
            response = client.generic(method, url, b"{", headers={"Authorization": f"Bearer {held.value}"})
            assert (response.status_code, response.content) == (403, b'{"error":"agent_route_not_allowed"}'), url
    assert ("POST", "/api/messages") in admitted


def test_reads_that_do_not_name_agents_refuse_them(held: TokenHolder) -> None:
    """Rule 6, and an operation's own callers: 403 for reads too; pages and documents stay open."""
    assert held.api.get("/v1/agent-tokens").error == "agent_route_not_allowed"
    assert held.api.send("HEAD", "/v1/agent-tokens").status == 403
    assert held.api.get("/api/auth/me").error == "agent_route_not_allowed"
    assert held.api.get("/api/docs/").status == 200
    assert held.api.get("/v1/smart-tags").status == 200


def plain(request: HttpRequest) -> HttpResponse:
    return HttpResponse(b"plain")


urlpatterns = [path("plain", plain)]


@override_settings(ROOT_URLCONF=__name__)
def test_a_view_that_declares_nothing_refuses_agents(held: TokenHolder) -> None:
    """Default deny is structural: a forgotten declaration is a refusal."""
    headers = {"Authorization": f"Bearer {held.value}"}
    assert Client().post("/plain", headers=headers).json() == {"error": "agent_route_not_allowed"}
    assert Client().get("/plain", headers=headers).content == b"plain"
    assert Client().post("/plain").content == b"plain"


def test_an_unknown_path_is_a_404(held: TokenHolder) -> None:
    answer = held.api.post("/v1/nowhere")
    assert (answer.status, answer.error) == (404, "not_found")


def test_a_bad_token_is_a_401_before_it_is_a_403(held: TokenHolder) -> None:
    assert Api.as_agent(held.value[:-1]).post("/v1/agent-tokens/requests", {}).status == 401
