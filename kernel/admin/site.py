"""Django's admin site, for super admins only."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from typing import Any

from django.apps import apps
from django.conf import settings
from django.contrib.admin import AdminSite
from django.contrib.auth import REDIRECT_FIELD_NAME
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import BadRequest, PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.module_loading import import_string

from kernel.admin.changelists import QueueSummary
from kernel.admin.model_admin import ReadOnlyModelAdmin
from kernel.api.requests import contains_nul
from kernel.second_factor import needs_second_factor

# The queue of jobs, and Django's log of decisions.
LAST_APPS = ("jobs", "admin")


class SuperAdminSite(AdminSite):
    """`has_permission` guards every page, so the pages of all apps are for super admins only."""

    site_title = site_header = "Community Messaging"
    index_title = "Overview"
    index_template = "admin/shared/index.html"
    site_url = "/"
    empty_value_display = "–"

    def register(self, model_or_iterable: Any, admin_class: Any = None, **options: Any) -> None:
        """Register ReadOnlyModelAdmin classes only: those of packages would show sign-in tokens in plain text."""
        if admin_class is not None and issubclass(admin_class, ReadOnlyModelAdmin):
            super().register(model_or_iterable, admin_class, **options)

    def has_permission(self, request: HttpRequest) -> bool:
        """Who waits for erasure can only cancel it, in the account area."""
        is_waiting = getattr(request.user, "erasure_due_at", None) is not None
        return bool(request.user.is_active and request.user.is_superuser and not is_waiting)

    def admin_view(self, view: Callable[..., Any], cacheable: bool = False) -> Any:
        """Refuse accounts that are not super admins (403); redirect only anonymous users to the sign-in page."""
        inner = super().admin_view(view, cacheable)

        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
            if request.user.is_authenticated and not self.has_permission(request):
                raise PermissionDenied
            if needs_second_factor(request.user):
                return redirect("account_security")
            if contains_nul(request):
                raise BadRequest("A parameter contains a NUL character.")
            return inner(request, *args, **kwargs)

        return update_wrapper(guarded, inner)

    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """The one sign-in of the service, which asks for the second factor."""
        return redirect_to_login(request.GET.get(REDIRECT_FIELD_NAME) or reverse("admin:index"))

    def password_change(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:  # type: ignore[override]
        """The one page for it, which counts the passwords that are tried."""
        return redirect("account_change_password")

    def get_app_list(self, request: HttpRequest, app_label: str | None = None) -> list[Any]:
        """In the order of INSTALLED_APPS, with the apps that show how the service works last."""
        order = [*(config.label for config in apps.get_app_configs()), *LAST_APPS]
        position = {label: number for number, label in enumerate(order)}
        own = super().get_app_list(request, app_label)
        return sorted(own, key=lambda app: position[app["app_label"]])

    def get_urls(self) -> list[Any]:
        """With the pages of ADMIN_URLS, before Django's last one, which catches all paths."""
        return [url for path in settings.ADMIN_URLS for url in import_string(path)(self)] + super().get_urls()

    def index(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> TemplateResponse:
        more = {"queues": self.queues()}
        for path in settings.ADMIN_INDEX:
            more |= import_string(path)()
        return super().index(request, (extra_context or {}) | more)

    def queues(self) -> list[QueueSummary]:
        """What waits for a decision."""
        summaries = [
            row_admin.queue_summary()
            for row_admin in self._registry.values()
            if isinstance(row_admin, ReadOnlyModelAdmin)
        ]
        return sorted(filter(None, summaries), key=lambda queue: queue.label)
