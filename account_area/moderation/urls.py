from __future__ import annotations

from django.urls import path

from account_area.moderation import authors, communities, decisions, exports, hosts, imports
from account_area.moderation import communities as settings
from account_area.moderation import hosts as widgets

OF_COMMUNITY = "communities/<slug:slug>/moderation/"
urlpatterns = [
    path("communities/", communities.communities, name="communities"),
    path("communities/new/", communities.new, name="new-community"),
    path(OF_COMMUNITY, communities.queue, name="moderation"),
    path(f"{OF_COMMUNITY}decide/", decisions.decide, name="moderation-decide"),
    path(f"{OF_COMMUNITY}hide-author/", authors.hide_author, name="moderation-hide-author"),
    path(f"{OF_COMMUNITY}hide-author/<uuid:job_id>/undo/", authors.undo_hide_author, name="moderation-undo-author"),
    path(f"{OF_COMMUNITY}posts/<str:post_id>/", communities.post, name="moderation-post"),
    path(f"{OF_COMMUNITY}rules/", settings.rules, name="moderation-rules"),
    path(f"{OF_COMMUNITY}people/", settings.people, name="moderation-people"),
    path(f"{OF_COMMUNITY}widgets/", widgets.widgets, name="moderation-widgets"),
    path(f"{OF_COMMUNITY}widgets/<uuid:embed>/end/", widgets.end, name="moderation-widget-end"),
    path(f"{OF_COMMUNITY}hosts/", hosts.hosts, name="moderation-hosts"),
    path(f"{OF_COMMUNITY}imports/", imports.imports, name="moderation-imports"),
    path(f"{OF_COMMUNITY}imports/<uuid:move_id>/", imports.one_import, name="moderation-import"),
    path(f"{OF_COMMUNITY}imports/<uuid:move_id>/report/", imports.report, name="moderation-import-report"),
    path(f"{OF_COMMUNITY}log/", settings.log, name="moderation-log"),
    path(f"{OF_COMMUNITY}export/", exports.export, name="moderation-export"),
]
