"""Pages redirect to their path with a slash; operations do not, because clients drop Authorization on a redirect."""

from __future__ import annotations

import pytest
from django.test import Client

from config.api.operations import all_operations
from config.urls import PAGES


@pytest.mark.parametrize("page", PAGES)
def test_a_page_without_its_slash_redirects(page: str) -> None:
    answer = Client().get(f"/{page}")
    assert (answer.status_code, answer.headers["Location"]) == (302, f"/{page}/")


def test_no_path_of_an_operation_ends_with_a_slash() -> None:
    assert not [path for path, _method, _held in all_operations() if path.endswith("/")]


def test_an_operation_with_a_slash_is_404() -> None:
    answer = Client().get("/api/messages/")
    assert (answer.status_code, answer.json()["error"]) == (404, "not_found")
