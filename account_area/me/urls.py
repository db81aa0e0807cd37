from __future__ import annotations

from django.urls import URLPattern, URLResolver, path

from account_area.me import views
from account_area.me import views as claim_views
from account_area.me import views as data_views
from account_area.me import views as post_views

urlpatterns: list[URLPattern | URLResolver] = [
    path("", views.overview, name="account_me"),
    path("posts/", post_views.posts, name="account_posts"),
    path("posts/<uuid:message_id>/edit/", post_views.edit_post, name="account_edit_post"),
    path("posts/<uuid:message_id>/delete/", post_views.delete_post, name="account_delete_post"),
    path("reactions/", post_views.reactions, name="account_reactions"),
    path("reactions/<uuid:reaction_id>/remove/", post_views.remove_own_reaction, name="account_remove_reaction"),
    path("imported-posts/", claim_views.imported_posts, name="account_imported_posts"),
    path("export/", data_views.export, name="account_export"),
    path("export/<uuid:export_id>/", data_views.download, name="account_download_export"),
    path("erase/", data_views.erase, name="account_erase"),
]
