from __future__ import annotations

from typing import Any

from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from config.api.exceptions import Forbidden
from config.api.operations import operation_of_action


class OperationPermission(BasePermission):
    """Refuses every request to an action without a declaration (403). ScopeMiddleware checks the declared ones."""

    def has_permission(self, request: Request, view: Any) -> bool:
        action = getattr(view, "action", "")
        # Without an action for the method, DRF responds with 405.
        if action is not None and operation_of_action(type(view), action) is None:
            raise Forbidden
        return True
