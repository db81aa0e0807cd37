from __future__ import annotations

from django.urls import path

from mails import drafts, views

urlpatterns = [
    path("unsubscribe/<str:kind>/<str:token>", views.unsubscribe_page, name="unsubscribe"),
    path("draft/<str:token>", drafts.draft_page, name="mailed-draft"),
]
