"""Django's admin site, for super admins only."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from typing import Any

from django.apps import apps
from django.contrib.admin import AdminSite
from django.contrib.admin.forms import AdminAuthenticationForm
from django.contrib.auth.base_user import AbstractBaseUser
from django.core.exceptions import BadRequest, PermissionDenied, ValidationError
from django.http import HttpRequest
from django.template.response import TemplateResponse

from config.admin.model_admin import ReadOnlyModelAdmin
from config.api import throttling
from config.api.addresses import client_network
from config.api.exceptions import RateLimited
from config.api.requests import contains_nul


class SuperAdminLoginForm(AdminAuthenticationForm):
    """Staff who are not super admins get the error of a wrong password."""

    def clean(self) -> dict[str, Any]:
        if self.request is not None:
            self._throttle(self.request)
        return super().clean()

    def confirm_login_allowed(self, user: AbstractBaseUser) -> None:
        if not (user.is_active and getattr(user, "is_superuser", False)):
            raise self.get_invalid_login_error()

    def _throttle(self, request: HttpRequest) -> None:
        try:
            throttling.hit("sign_in", client_network(request))
        except RateLimited:
            raise ValidationError("Too many attempts. Wait a minute, then try again.") from None


class SuperAdminSite(AdminSite):
    """`has_permission` guards every page, so the pages of all apps are for super admins only."""

    site_title = site_header = "Community Messaging"
    index_title = "Overview"
    index_template = "admin/shared/index.html"
    login_form = SuperAdminLoginForm
    site_url = "/"
    empty_value_display = "–"

    def register(self, model_or_iterable: Any, admin_class: Any = None, **options: Any) -> None:
        """Register ReadOnlyModelAdmin classes only: those of packages would show sign-in tokens in plain text."""
        if admin_class is not None and issubclass(admin_class, ReadOnlyModelAdmin):
            super().register(model_or_iterable, admin_class, **options)

    def has_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.is_active and request.user.is_superuser)

    def admin_view(self, view: Callable[..., Any], cacheable: bool = False) -> Any:
        """Refuse accounts that are not super admins (403); redirect only anonymous users to the sign-in page."""
        inner = super().admin_view(view, cacheable)

        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
            if request.user.is_authenticated and not self.has_permission(request):
                raise PermissionDenied
            if contains_nul(request):
                raise BadRequest("A parameter contains a NUL character.")
            return inner(request, *args, **kwargs)

        return update_wrapper(guarded, inner)

    def get_app_list(self, request: HttpRequest, app_label: str | None = None) -> list[Any]:
        """In the order of INSTALLED_APPS, with Django's own app last."""
        order = [config.label for config in apps.get_app_configs()]
        own = super().get_app_list(request, app_label)
        return sorted(own, key=lambda app: (app["app_label"] == "admin", order.index(app["app_label"])))

    def index(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> TemplateResponse:
        summaries = [
            row_admin.queue_summary()
            for row_admin in self._registry.values()
            if isinstance(row_admin, ReadOnlyModelAdmin)
        ]
        queues = sorted(filter(None, summaries), key=lambda queue: queue.label)
        return super().index(request, (extra_context or {}) | {"queues": queues})
