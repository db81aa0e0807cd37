"""ScopeMiddleware: what the declaration of an operation does not allow is refused before the view runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client, override_settings
from django.urls import path
from django.views.decorators.csrf import csrf_exempt

from config.api.credentials import CredentialKind
from config.api.operations import operation
from config.api.responses import Response
from config.api.viewsets import ApiViewSet, router
from tests.agents.factories import agent_with_token
from tests.api import HANDLER, Api
from tests.factories import PersonFactory

pytestmark = pytest.mark.django_db
CALLS: list[tuple[Any, Any, Any]] = []


class Scoped(ApiViewSet):
    @operation("writeScoped", callers={CredentialKind.AGENT, CredentialKind.PERSON}, scopes={"react"}, body_max=64)
    def create(self, request: Any) -> Response:
        CALLS.append((request.user.pk, request.auth.kind, request.data))
        return Response({})


class Undeclared(ApiViewSet):
    def create(self, request: Any) -> Response:
        CALLS.append(request)
        return Response({})

    def delete(self, request: Any) -> Response:
        """DRF would call it though no route names it."""
        CALLS.append(request)
        return Response({})


@csrf_exempt
def plain(request: Any) -> HttpResponse:
    return HttpResponse("plain")


routes = router()
routes.register("scoped", Scoped, basename="scoped")
urlpatterns = [*routes.urls, path("plain", plain), path("undeclared", Undeclared.as_view({"post": "create"}))]


@pytest.fixture(autouse=True)
def _urls() -> Iterator[None]:
    CALLS.clear()
    with override_settings(ROOT_URLCONF=__name__):
        yield


def send(api: Api, url: str = "/scoped", method: str = "POST", body: bytes = b"{}") -> tuple[int, str]:
    client = Client()
    client.handler = HANDLER
    response = client.generic(method, url, body, content_type="application/json", headers=api.credentials)
    is_json = response.headers["Content-Type"] == "application/json"
    return response.status_code, response.json().get("error", "") if is_json else ""


def test_the_view_finds_the_account_the_credential_and_the_parsed_body() -> None:
    agent, person = agent_with_token(), PersonFactory()
    assert send(agent.api, body=b'{"a": 1}') == (200, "")
    assert send(Api.as_person(person), body=b"") == (200, "")
    assert [
        (agent.agent.pk, CredentialKind.AGENT, {"a": 1}),
        (person.pk, CredentialKind.PERSON, {}),
    ] == CALLS


@pytest.mark.parametrize(
    ("api", "body", "refusal"),
    [
        (Api, b"{}", (401, "not_authenticated")),
        (lambda: Api({"Authorization": "Basic x"}), b"{}", (401, "invalid_token")),
        (lambda: Api.as_signed_in(PersonFactory()), b"{}", (401, "invalid_token")),
        (lambda: agent_with_token(scopes=["post"]).api, b"{", (400, "invalid_input")),
        (lambda: agent_with_token(scopes=["post"]).api, b"{}", (403, "agent_scope_missing:react")),
        (lambda: agent_with_token().api, b'{"a": "%s"}' % (b"x" * 64), (413, "payload_too_large")),
    ],
)
def test_a_refused_request_does_not_reach_the_view(api: Any, body: bytes, refusal: tuple[int, str]) -> None:
    assert send(api(), body=body) == refusal
    assert CALLS == []


@pytest.mark.parametrize(("method", "status"), [("GET", 200), ("POST", 403), ("DELETE", 403)])
def test_a_view_without_a_declaration_refuses_agents_on_unsafe_methods(method: str, status: int) -> None:
    assert send(agent_with_token().api, "/plain", method)[0] == status
    assert send(Api(), "/plain", method)[0] == 200


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE", "QUERY"])
def test_a_method_that_a_viewset_does_not_have_is_405_for_agents_as_for_others(method: str) -> None:
    for api in (agent_with_token().api, Api()):
        assert send(api, method=method) == (405, "method_not_allowed")


@pytest.mark.parametrize("method", ["POST", "DELETE"])
def test_a_handler_without_a_declaration_refuses_agents(method: str) -> None:
    assert send(agent_with_token().api, "/undeclared", method) == (403, "agent_route_not_allowed")
    assert CALLS == []
