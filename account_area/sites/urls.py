from __future__ import annotations

from django.urls import path

from account_area.sites import accounts_views, edit_views, posts_views, views
from account_area.sites import views as install_views
from account_area.sites import views as numbers_views
from account_area.sites.views import preview

SITE = "sites/<uuid:embed>/"

urlpatterns = [
    path("sites/", views.sites, name="sites"),
    path("sites/new/", views.new_site, name="site-new"),
    path(SITE, numbers_views.numbers, name="site"),
    path(f"{SITE}posts/", posts_views.posts, name="site-posts"),
    path(f"{SITE}numbers.csv", numbers_views.table, name="site-table"),
    path(f"{SITE}start/", views.start, name="site-start"),
    path(f"{SITE}install/", install_views.install, name="site-install"),
    path(f"{SITE}seen/", install_views.seen, name="site-seen"),
    path(f"{SITE}allow/", install_views.allow, name="site-allow"),
    path(f"{SITE}look/", edit_views.look, name="site-look"),
    path(f"{SITE}preview/", preview, name="site-preview"),
    path(f"{SITE}pages/", edit_views.pages, name="site-pages"),
    path(f"{SITE}words/", edit_views.words, name="site-words"),
    path(f"{SITE}accounts/", accounts_views.accounts, name="site-accounts"),
    path(f"{SITE}accounts/secret/", accounts_views.secret, name="site-secret"),
    path(f"{SITE}accounts/secret/end/", accounts_views.end, name="site-secret-end"),
    path(f"{SITE}settings/", edit_views.settings, name="site-settings"),
    path(f"{SITE}pause/", views.pause, name="site-pause"),
    path(f"{SITE}resume/", views.resume, name="site-resume"),
    path(f"{SITE}delete/", views.delete, name="site-delete"),
]
