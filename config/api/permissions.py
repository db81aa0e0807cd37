from __future__ import annotations

from typing import TYPE_CHECKING

from rest_framework.permissions import BasePermission
from rest_framework.request import Request

if TYPE_CHECKING:
    from config.api.views import ApiView


class OperationPermission(BasePermission):
    """Lets in whom the operation's declaration names, nobody else."""

    def has_permission(self, request: Request, view: ApiView) -> bool:  # type: ignore[override]
        view.operation.admit(view.request.caller)
        return True
