"""System checks of what the middlewares rely on."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, register

from kernel.api.operations import all_operations

ORDER = {
    "OPERATION_MIDDLEWARE": ("AgentTokenMiddleware", "ScopeMiddleware", "IdempotencyMiddleware"),
    "MIDDLEWARE": ("ApiMiddleware", "PageTokenMiddleware", "CsrfViewMiddleware"),
}


@register()
def check_middleware_order(**_kwargs: Any) -> list[CheckMessage]:
    """Each one relies on the ones before it; the CSRF check would answer 403 in their place."""
    faults: list[CheckMessage] = []
    for setting, order in ORDER.items():
        classes = [path.rpartition(".")[2] for path in getattr(settings, setting)]
        if [name for name in classes if name in order] != list(order):
            faults.append(Error(f"{setting} must have {', '.join(order)}, in this order.", id="api.E002"))
    return faults


@register(Tags.urls)
def check_methods_of_operations(**_kwargs: Any) -> list[CheckMessage]:
    """An operation is a read by its id (`get…`, `list…`); only writes have a transaction and a key.

    A read is a GET, or a POST if it declares a body. A gateway is neither.
    """
    return [
        Error(f"{operation.id} is a {'write' if operation.is_write else 'read'}, but {method} {path}.", id="api.E003")
        for path, method, operation in all_operations()
        if not operation.is_gateway and operation.has_body == (method == "GET")
    ]
