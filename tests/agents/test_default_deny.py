"""Rule 2: agent tokens are default-deny for writes, on every route and unsafe method."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest
from django.http import HttpRequest, HttpResponse
from django.test import Client, override_settings
from django.urls import URLPattern, URLResolver, get_resolver, path, resolve

from kernel.api.credentials import CredentialKind
from kernel.api.operations import operation_of
from tests.agents.factories import TokenHolder, agent_with_token
from tests.api import Api

pytestmark = pytest.mark.django_db
UNSAFE = ["POST", "PUT", "PATCH", "DELETE", "PROPFIND"]
# The writes without a token, which accept any valid token; every other write of agents declares scopes.
# Writes without a credential, the reads by POST, and the gateway, whose subrequests are checked as these requests are.
PUBLIC_WRITES = {
    ("POST", "/mcp"),
    ("POST", "/v1/presence/normalize-url"),
    ("POST", "/api/embeds/analytics/events"),
    ("POST", "/v1/presence/counts"),
    ("POST", "/v1/imported"),
}
SAMPLES = {"str": "x", "int": "1", "slug": "x", "uuid": str(UUID(int=7)), "path": "x", "handle": "abc"}


def routes() -> Iterator[tuple[str, Any]]:
    """(a path that leads there, view) of every route of the service, the admin's included."""
    yield from _routes(get_resolver().url_patterns, "")


def _routes(patterns: list[URLPattern | URLResolver], prefix: str) -> Iterator[tuple[str, Any]]:
    for pattern in patterns:
        path_so_far = prefix + sample(str(pattern.pattern))
        if isinstance(pattern, URLResolver):
            yield from _routes(pattern.url_patterns, path_so_far)
        else:
            yield "/" + path_so_far, pattern.callback


def sample(route: str) -> str:
    """A path that a route matches: `a/<str:id>` → `a/x`; the first alternative of a regular expression."""
    route = re.sub(r"\(\?P<\w+>\.\*\)", "x", route)
    route = re.sub(r"\(\?P<\w+>(\w+)(\|\w+)*\)", r"\1", route).strip("^$")
    return re.sub(r"<(?:(\w+):)?\w+>", lambda match: SAMPLES[match[1] or "str"], route)


@pytest.fixture
def holder() -> TokenHolder:
    return agent_with_token()


def test_sample_path_resolves_to_its_view() -> None:
    all_routes = list(routes())
    assert len(all_routes) > 50
    for url, view in all_routes:
        assert resolve(url).func is view or resolve(url).func.__qualname__ == view.__qualname__, url


@pytest.mark.parametrize(
    ("methods", "with_pages"),
    [(["POST", "DELETE"], False), pytest.param(UNSAFE, True, marks=pytest.mark.slow)],
    ids=["operations", "everything"],
)
def test_write_without_a_declared_scope_refuses_agents(
    holder: TokenHolder, settings: Any, methods: list[str], with_pages: bool
) -> None:
    """403 agent_route_not_allowed for a token with every scope, before CSRF checks and parsers.

    405 for a method that a viewset does not have, as for people.
    """
    settings.SOFT_THROTTLES = settings.SOFT_THROTTLES | {"agent_refused": (10**6, 60)}
    client, admitted = Client(enforce_csrf_checks=True), set()
    for url, view in routes():
        # Pages refuse with a page.
        is_page = url.startswith(("/admin/", "/account/"))
        if is_page and not with_pages:
            continue
        actions = getattr(view, "actions", None)
        for method in methods:
            declared = operation_of(resolve(url).func, method)
            if (method, url) in PUBLIC_WRITES or (declared is not None and CredentialKind.AGENT in declared.callers):
                admitted.add((method, url))
                continue
            response = client.generic(method, url, b"{", headers={"Authorization": f"Bearer {holder.value}"})
            exists = actions is None or method.lower() in actions
            refusal = (403, "agent_route_not_allowed") if exists else (405, "method_not_allowed")
            error = refusal[1] if is_page else response.json()["error"]
            assert (response.status_code, error) == refusal, (method, url)
    assert ("POST", "/api/messages") in admitted


def test_read_without_agents_among_its_callers_refuses_them(holder: TokenHolder) -> None:
    """Rule 6: the callers of an operation apply to reads too, but not to pages and documents."""
    assert holder.api.get("/v1/agent-tokens").error == "agent_route_not_allowed"
    assert holder.api.send("HEAD", "/v1/agent-tokens").status == 403
    assert holder.api.get("/api/auth/me").error == "agent_route_not_allowed"
    assert holder.api.get("/api/docs/").status == 200
    assert holder.api.get("/v1/smart-tags").status == 200


def plain(request: HttpRequest) -> HttpResponse:
    return HttpResponse(b"plain")


urlpatterns = [path("plain", plain)]


@override_settings(ROOT_URLCONF=__name__)
def test_view_without_a_declaration_refuses_agents(holder: TokenHolder) -> None:
    """A forgotten declaration is a refusal, not an access."""
    headers = {"Authorization": f"Bearer {holder.value}"}
    assert Client().post("/plain", headers=headers).json()["error"] == "agent_route_not_allowed"
    assert Client().get("/plain", headers=headers).content == b"plain"
    assert Client().post("/plain").content == b"plain"


def test_unknown_path_is_404(holder: TokenHolder) -> None:
    response = holder.api.post("/v1/nowhere")
    assert (response.status, response.error) == (404, "not_found")


def test_invalid_token_is_401_before_403(holder: TokenHolder) -> None:
    assert Api.as_agent(holder.value[:-1]).post("/v1/agent-tokens/requests", {}).status == 401
