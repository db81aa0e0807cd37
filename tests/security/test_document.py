"""The OpenAPI document is public: it is generated once, and no query parameter changes or breaks it."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from drf_spectacular.generators import SchemaGenerator

from kernel.api.openapi import views
from tests.agents.racing import race

pytestmark = pytest.mark.django_db


def test_document_is_generated_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[bool] = []
    get_schema = SchemaGenerator.get_schema

    def counted(self: SchemaGenerator, *arguments: Any, **options: Any) -> Any:
        calls.append(True)
        return get_schema(self, *arguments, **options)

    monkeypatch.setattr(SchemaGenerator, "get_schema", counted)
    views.rendered.cache_clear()
    views.schema.cache_clear()
    types = ("application/json", "application/yaml")
    # At once, as the first requests of a process may come.
    answers = race(6, lambda number: views.document(types[number % 2]))
    assert len(set(answers)) == 2
    assert len(calls) == 1


def test_query_parameters_do_not_change_the_document() -> None:
    for query in ["version=%0d%0aX-Evil:1", "version=2", "lang=%00", "lang=de", "urlconf=x", "a=%ff"]:
        answer = Client().get(f"/api/schema/?{query}")
        assert answer.status_code == 200, query
        assert answer.content == Client().get("/api/schema/").content, query


@pytest.mark.parametrize(
    ("accept", "media_type"),
    [
        ("*/*", "application/vnd.oai.openapi"),
        ("application/json", "application/json"),
        ("application/yaml", "application/yaml"),
        ("application/vnd.oai.openapi+json", "application/vnd.oai.openapi+json"),
    ],
)
def test_document_has_the_accepted_media_type(accept: str, media_type: str) -> None:
    answer = Client().get("/api/schema/", headers={"Accept": accept})
    assert (answer.status_code, answer.headers["Content-Type"].partition(";")[0]) == (200, media_type)
    assert b"3.1.1" in answer.content


def test_unsupported_media_type_is_406() -> None:
    answer = Client().get("/api/schema/", headers={"Accept": "image/png"})
    assert (answer.status_code, answer.json()["error"]) == (406, "not_acceptable")
    assert Client().get("/api/schema/?format=png").status_code == 404


def test_document_is_read_only() -> None:
    for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"]:
        for path in ["/api/schema/", "/api/docs/", "/api/redoc/"]:
            answer = Client().generic(method, path)
            assert (answer.status_code, answer.json()["error"]) == (405, "method_not_allowed"), (method, path)
