from __future__ import annotations

from django.urls import path

from messaging.views.messages import MessagesView, MessageView
from messaging.views.pages import NormalizeUrlView, SmartTagsView
from messaging.views.sign_in import (
    EmbedTokenView,
    LoginView,
    LogoutAllView,
    LogoutView,
    MeView,
    RefreshView,
    RegisterView,
)

urlpatterns = [
    path("api/messages", MessagesView.as_view()),
    path("api/messages/<str:id>", MessageView.as_view()),
    path("v1/presence/normalize-url", NormalizeUrlView.as_view()),
    path("v1/smart-tags", SmartTagsView.as_view()),
    path("api/auth/register", RegisterView.as_view()),
    path("api/auth/login", LoginView.as_view()),
    path("api/auth/refresh", RefreshView.as_view()),
    path("api/auth/logout", LogoutView.as_view()),
    path("api/auth/logout-all", LogoutAllView.as_view()),
    path("api/auth/me", MeView.as_view()),
    path("api/auth/embed-token", EmbedTokenView.as_view()),
]
