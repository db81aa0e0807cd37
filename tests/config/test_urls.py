"""Pages redirect to their path with a slash; operations do not, because clients drop Authorization on a redirect."""

from __future__ import annotations

from django.test import Client

from config.urls import PAGES
from kernel.api.operations import all_operations


def test_a_page_without_its_slash_redirects_and_an_operation_has_none() -> None:
    assert PAGES
    for page in PAGES:
        answer = Client().get(f"/{page}")
        assert (answer.status_code, answer.headers["Location"]) == (302, f"/{page}/")
    assert not [path for path, _method, _held in all_operations() if path.endswith("/")]
    answer = Client().get("/api/messages/")
    assert (answer.status_code, answer.json()["error"]) == (404, "not_found")
