from __future__ import annotations

from django.urls import path

from mails import views

urlpatterns = [path("unsubscribe/<str:kind>/<str:token>", views.unsubscribe_page, name="unsubscribe")]
