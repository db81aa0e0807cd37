"""System check of the middlewares' order."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, register

ORDER = ("AgentTokenMiddleware", "ScopeMiddleware", "IdempotencyMiddleware", "CsrfViewMiddleware")


@register()
def check_middleware_order(**_kwargs: Any) -> list[CheckMessage]:
    """Each one relies on the ones before it; the CSRF check would answer 403 in their place."""
    classes = [path.rpartition(".")[2] for path in settings.MIDDLEWARE]
    if [name for name in classes if name in ORDER] == list(ORDER):
        return []
    return [Error(f"MIDDLEWARE must have {', '.join(ORDER)}, in this order.", id="api.E002")]
