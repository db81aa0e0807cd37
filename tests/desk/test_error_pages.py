"""Refusals under the path of the admin are pages in its look; they need neither a session nor the database."""

from __future__ import annotations

import pytest
from django.test import Client
from django.test.utils import CaptureQueriesContext

from tests.factories import PersonFactory


@pytest.mark.django_db
def test_a_wrong_address_is_a_page_of_the_admin(admin_client: Client) -> None:
    response = admin_client.get("/admin/nowhere/")
    text = response.content.decode()
    assert response.status_code == 404
    assert "<h1>Page not found</h1>" in text
    assert "admin/desk/desk.css" in text
    assert "unsafe" not in response.headers["Content-Security-Policy"]


@pytest.mark.django_db
def test_a_person_who_is_no_super_admin_gets_a_page_that_tells_nothing(client: Client) -> None:
    client.force_login(PersonFactory())
    response = client.get("/admin/messaging/message/")
    text = response.content.decode()
    assert response.status_code == 403
    assert "<h1>Not allowed</h1>" in text
    assert "desk-search" not in text
    assert "/admin/messaging/" not in text


@pytest.mark.django_db
def test_the_page_is_rendered_without_a_query(client: Client) -> None:
    from django.db import connection
    from django.test import RequestFactory

    from config.api.exceptions import NotFound
    from config.api.html_errors import _page
    from config.api.responses import Response

    request = RequestFactory().get("/admin/nowhere/")
    with CaptureQueriesContext(connection) as queries:
        page = _page(request, NotFound(), Response({}, status=404))
    assert (page.status_code, len(queries)) == (404, 0)
