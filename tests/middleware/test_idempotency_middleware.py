"""IdempotencyMiddleware: one transaction around the view of a write."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from django.db import DatabaseError, IntegrityError, connection, transaction
from django.test import Client, override_settings

from kernel.api.credentials import CredentialKind
from kernel.api.exceptions import Forbidden
from kernel.api.operations import operation
from kernel.api.requests import Response
from kernel.api.viewsets import ApiViewSet, router
from kernel.writes.models import StoredResponse
from messaging.models import Community
from tests.agents.factories import TokenHolder, agent_with_token
from tests.api import HANDLER

pytestmark = pytest.mark.django_db


class Writes(ApiViewSet):
    """Each action writes a row first; `outcome` in the body selects what follows."""

    @operation("writeRow", callers={CredentialKind.AGENT}, scopes={"post"})
    def create(self, request: Any) -> Response:
        Community.objects.create(slug="written", name="Written")
        transaction.on_commit(lambda: COMMITTED.append("written"))
        request.transaction.consume()
        match request.data["outcome"]:
            case "refused":
                return Response({"error": "refused"}, status=409)
            case "raised":
                raise Forbidden
            case "lost once" if not BROKEN:
                BROKEN.append("lost")
                with connection.cursor() as cursor:
                    cursor.execute("DO $$ BEGIN RAISE deadlock_detected; END $$")
            case "swallowed":
                with suppress(IntegrityError):
                    Community.objects.bulk_create([Community(slug="written", name="Again")])
            case "defect":
                raise DatabaseError("no SQLSTATE")
        return Response({"done": True}, status=201)


routes = router()
routes.register("writes", Writes, basename="writes")
urlpatterns = routes.urls
COMMITTED: list[str] = []
BROKEN: list[str] = []


@pytest.fixture(autouse=True)
def _urls() -> Iterator[None]:
    COMMITTED.clear()
    BROKEN.clear()
    with override_settings(ROOT_URLCONF=__name__):
        yield


@pytest.fixture
def agent() -> TokenHolder:
    return agent_with_token()


def write(agent: TokenHolder, outcome: str, key: str = "once") -> Any:
    client = Client(raise_request_exception=False)
    client.handler = HANDLER
    headers = {**agent.api.credentials, "Idempotency-Key": key}
    return client.post("/writes", {"outcome": outcome}, content_type="application/json", headers=headers)


def stored() -> tuple[int, int]:
    return Community.objects.filter(slug="written").count(), StoredResponse.objects.count()


def test_a_status_of_400_or_more_rolls_back_however_it_came_about(agent: TokenHolder) -> None:
    for outcome, status in (("refused", 409), ("raised", 403), ("defect", 500), ("swallowed", 500)):
        assert write(agent, outcome).status_code == status
        assert (stored(), COMMITTED) == ((0, 0), []), outcome


def test_the_key_of_a_refused_write_is_free(agent: TokenHolder) -> None:
    write(agent, "refused")
    response = write(agent, "written")
    assert (response.status_code, response.headers.get("Idempotent-Replayed")) == (201, None)
    assert stored() == (1, 1)


def test_the_view_runs_once_for_a_key(agent: TokenHolder) -> None:
    first, again = write(agent, "written"), write(agent, "written")
    assert (first.content, again.headers["Idempotent-Replayed"]) == (again.content, "true")
    assert stored() == (1, 1)


@pytest.mark.django_db(transaction=True)
def test_a_write_that_a_deadlock_broke_off_runs_again_as_a_whole(agent: TokenHolder) -> None:
    assert write(agent, "lost once").status_code == 201
    assert stored() == (1, 1)
    assert COMMITTED == ["written"]
