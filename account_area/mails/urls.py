from __future__ import annotations

from django.urls import path

from account_area.mails import views

urlpatterns = [path("me/mails/", views.mails, name="account_mails")]
