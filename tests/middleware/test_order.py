"""The three middlewares of the API rely on their order and on the ids of operations; system checks guard both."""

from __future__ import annotations

from typing import Any

import pytest
from django.conf import settings
from django.test import override_settings

from config.api.credentials import CredentialKind
from config.api.operations import operation
from config.api.responses import Response
from config.api.viewsets import ApiViewSet, router
from config.writes.checks import ORDER, check_methods_of_operations, check_middleware_order


def reordered(move: str, to: int) -> list[str]:
    others = [path for path in settings.MIDDLEWARE if not path.endswith(move)]
    path = next(path for path in settings.MIDDLEWARE if path.endswith(move))
    return [*others[:to], path, *others[to:]]


def test_the_order_of_the_settings_is_valid() -> None:
    assert check_middleware_order() == []


@pytest.mark.parametrize("name", ORDER)
@pytest.mark.parametrize("end", ["first", "last"])
def test_another_order_is_an_error(name: str, end: str) -> None:
    middleware = reordered(name, 0 if end == "first" else len(settings.MIDDLEWARE))
    is_in_place = (name, end) in {(ORDER[0], "first"), (ORDER[-1], "last")}
    with override_settings(MIDDLEWARE=middleware):
        errors = [error.id for error in check_middleware_order()]
    assert errors == ([] if is_in_place else ["api.E002"])


@pytest.mark.parametrize("name", ORDER)
def test_a_missing_middleware_is_an_error(name: str) -> None:
    with override_settings(MIDDLEWARE=[path for path in settings.MIDDLEWARE if not path.endswith(name)]):
        assert [error.id for error in check_middleware_order()] == ["api.E002"]


class Misnamed(ApiViewSet):
    @operation("getAndChange", callers={CredentialKind.PERSON})
    def create(self, request: Any) -> Response:
        return Response({})


routes = router()
routes.register("misnamed", Misnamed, basename="misnamed")
urlpatterns = routes.urls


def test_a_read_by_its_id_must_be_a_get() -> None:
    assert check_methods_of_operations() == []
    with override_settings(ROOT_URLCONF=__name__):
        (error,) = check_methods_of_operations()
    assert (error.id, error.msg) == ("api.E003", "getAndChange is a read, but POST misnamed.")
