"""Every mapped route of the sign-in has a page of ours, and the session opens nothing but pages."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import Resolver404, resolve

from account_area.sign_in.urls import urlpatterns
from config.api.credentials import CredentialKind
from config.api.operations import all_operations
from messaging.models import PostsChoice
from messaging.personal_data.erasures import request_erasure
from tests.account_area.second_factors import add_app
from tests.factories import PersonFactory, SuperAdminFactory

pytestmark = pytest.mark.django_db
OF_ALLAUTH = ("account/", "mfa/", "socialaccount/", "allauth/", "usersessions/")
VALUES = {"id": "0199f000-0000-7000-8000-000000000000", "token": "x", "key": "x", "provider_id": "oidc"}
ENDS_SESSION = {"account_logout", "account_end_everywhere"}


def paths() -> list[tuple[str, str]]:
    """(name, path) of every route, with values for its parameters."""
    found = []
    for route in urlpatterns:
        path = re.sub(r"<int:\w+>", "1", str(route.pattern))
        path = re.sub(r"<(?:\w+:)?(\w+)>", lambda match: VALUES[match[1]], path)
        found.append((str(route.name), f"/account/{path}"))
    return found


def test_no_route_shows_a_template_of_allauth() -> None:
    boss = SuperAdminFactory()
    add_app(boss)
    signed_in, nobody = Client(), Client()
    signed_in.force_login(boss)
    for name, path in paths():
        for client in (nobody, signed_in):
            for response in (client.get(path), client.post(path, {"x": "1"})):
                assert response.status_code in {200, 302, 403, 404, 405}, (path, response.status_code)
                assert {"private", "no-store"} <= set(response["Cache-Control"].split(", ")), path
                assert "unsafe" not in response["Content-Security-Policy"], path
                names = [str(template.name) for template in getattr(response, "templates", ()) if template.name]
                assert not [each for each in names if each.startswith(OF_ALLAUTH)], path
        if name in ENDS_SESSION:
            signed_in.force_login(boss)


@pytest.mark.parametrize("path", ["login/", "signup/", "2fa/", "email/", "social/connections/", "sign-up/passkey/"])
def test_other_routes_of_allauth_do_not_exist(path: str) -> None:
    with pytest.raises(Resolver404):
        resolve(f"/account/{path}")
    assert Client().get(f"/account/{path}").status_code == 404


def test_no_operation_of_the_api_reads_the_session() -> None:
    client = Client()
    client.force_login(SuperAdminFactory())
    for path, method, operation in all_operations():
        if CredentialKind.PUBLIC in operation.callers:
            continue
        filled = re.sub(r"<(?:\w+:)?\w+>", VALUES["id"], f"/{path.lstrip('/')}")
        filled = re.sub(r"\{\w+\}", VALUES["id"], filled)
        response = client.generic(method, filled, data="{}", content_type="application/json")
        assert (response.status_code, response.json()["error"]) == (401, "not_authenticated"), (method, filled)
        assert "Set-Cookie" not in response.headers


def test_only_the_pages_offer_the_session_to_a_panel() -> None:
    client, strict = Client(), Client(enforce_csrf_checks=True)
    assert client.get("/account/continue/").json() == {"user": None}
    person = SuperAdminFactory()
    for each in (client, strict):
        each.force_login(person)
    offered = strict.get("/account/continue/").json()
    assert offered["user"]["handle"] == person.handle
    assert strict.post("/account/continue/").status_code == 403
    taken = strict.post("/account/continue/", headers={"X-CSRFToken": offered["csrf"]}).json()
    bearer = {"Authorization": f"Bearer {taken['accessToken']}"}
    assert Client().get("/api/auth/me", headers=bearer).json()["handle"] == person.handle


def test_a_panel_is_not_offered_a_session_that_it_would_be_refused(settings: Any) -> None:
    waiting, boss = PersonFactory(), SuperAdminFactory()
    request_erasure(person=waiting, posts=PostsChoice.ANONYMOUS, by=waiting)
    waiting.refresh_from_db()
    settings.ADMIN_MFA = True
    for person, status in ((waiting, 403), (boss, 401)):
        client = Client()
        client.force_login(person)
        assert client.get("/account/continue/").json() == {"user": None}
        assert client.post("/account/continue/").status_code == status
    add_app(boss)
    client.force_login(boss)
    assert client.get("/account/continue/").json()["user"]["handle"] == boss.handle
