from __future__ import annotations

from typing import Any

from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from kernel.api.exceptions import Forbidden


class OperationPermission(BasePermission):
    """Refuses requests that ScopeMiddleware has not checked: those to an action without a declaration (403)."""

    def has_permission(self, request: Request, view: Any) -> bool:
        has_action = getattr(view, "action", "") is not None
        # Without an action for the method, DRF responds with 405.
        if has_action and not getattr(request._request, "is_admitted", False):
            raise Forbidden
        return True
