"""The three middlewares of the API rely on their order and on the ids of operations; system checks guard both."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.test import override_settings

from kernel.api.credentials import CredentialKind
from kernel.api.operations import operation
from kernel.api.requests import Response
from kernel.api.viewsets import ApiViewSet, router
from kernel.writes.checks import ORDER, check_methods_of_operations, check_middleware_order


def reordered(setting: str, move: str, to: int) -> list[str]:
    paths = getattr(settings, setting)
    others = [path for path in paths if not path.endswith(move)]
    path = next(path for path in paths if path.endswith(move))
    return [*others[:to], path, *others[to:]]


def test_the_order_of_the_settings_is_valid() -> None:
    assert check_middleware_order() == []


def errors_with(setting: str, middleware: list[str]) -> list[str]:
    with override_settings(**{setting: middleware}):
        return [str(error.id) for error in check_middleware_order()]


def test_another_order_or_a_missing_middleware_is_an_error() -> None:
    for setting, order in ORDER.items():
        for name in order:
            first, last = (reordered(setting, name, to) for to in (0, len(getattr(settings, setting))))
            assert errors_with(setting, first) == ([] if name == order[0] else ["api.E002"])
            assert errors_with(setting, last) == ([] if name == order[-1] else ["api.E002"])
            assert errors_with(setting, [path for path in first if not path.endswith(name)]) == ["api.E002"]


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
