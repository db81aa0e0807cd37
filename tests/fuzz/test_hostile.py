"""The responses that `make fuzz` accepts and reports."""

from __future__ import annotations

import pytest

from tests.fuzz.hostile import wrong
from tests.fuzz.seeds import Input


def test_pages_may_return_html() -> None:
    for path in ["/", "/?agent/self", "/#x", "/admin", "/admin#", "/demo/?a=b", "/embed/panel"]:
        assert wrong(_get(path), 200, "text/html", b"<!doctype html>") is None, path


@pytest.mark.parametrize("path", ["/api/messages", "/v1/reactions?/", "/admin%3F", "/administration"])
def test_other_paths_must_return_json(path: str) -> None:
    assert wrong(_get(path), 404, "text/html", b"<!doctype html>") == "not JSON"
    assert wrong(_get(path), 404, "application/json", b"{") == "not JSON"
    assert wrong(_get(path), 404, "application/json", b"{}") == "no error code"
    assert wrong(_get(path), 404, "application/json", b'{"error":"not_found"}') is None


def test_5xx_is_wrong_everywhere() -> None:
    assert wrong(_get("/"), 500, "text/html", b"") == "5xx"


def test_503_is_right_for_headers_that_cannot_be_read_before_a_large_body() -> None:
    large = bytes(100_000)
    unreadable, readable = (("Authorization", "a\x7fb"),), (("Authorization", "a\tb"),)
    assert wrong(Input("POST", "/", "", unreadable, large), 503, "application/json", b"{}") is None
    assert wrong(Input("POST", "/", "", readable, large), 503, "application/json", b"{}") == "5xx"
    assert wrong(Input("POST", "/", "", unreadable, b"small"), 503, "application/json", b"{}") == "5xx"
    assert wrong(Input("POST", "/", "", unreadable, large), 500, "application/json", b"{}") == "5xx"


def _get(path: str) -> Input:
    return Input("GET", path, "", (), None)
