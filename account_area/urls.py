from __future__ import annotations

from django.urls import include, path

from account_area import home

urlpatterns = [
    path("", home.overview, name="account"),
    path("", include("account_area.sign_in.urls")),
    path("", include("account_area.sites.urls")),
    path("", include("account_area.moderation.urls")),
    path("", include("account_area.agents.urls")),
    path("", include("account_area.mails.urls")),
    path("me/", include("account_area.me.urls")),
]
