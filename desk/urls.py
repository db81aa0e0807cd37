"""The pages of the desk, under the path of the admin and for super admins only."""

from __future__ import annotations

from django.contrib.admin import AdminSite
from django.urls import URLPattern, path

from desk.views import notices_page, record_download, record_page, search_page, waiting


def urls_of(site: AdminSite) -> list[URLPattern]:
    """Named as the pages of the site: `admin:desk_search`."""
    return [
        path("search/", site.admin_view(search_page), name="desk_search"),
        path("notices/", site.admin_view(notices_page), name="desk_notices"),
        path("record/", site.admin_view(record_page), name="desk_record"),
        path("record/<uuid:pk>/", site.admin_view(record_download), name="desk_record_download"),
        path("waiting/", site.admin_view(waiting), name="desk_waiting"),
    ]
