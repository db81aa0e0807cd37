from __future__ import annotations

from django.urls import path

from agents.views.requests import ApproveView, CancelView, RejectView, RequestsView
from agents.views.self import SelfView
from agents.views.tokens import NewTokenView, RevokeView, TokensView

urlpatterns = [
    path("v1/agent/self", SelfView.as_view()),
    path("v1/agent-tokens", TokensView.as_view()),
    path("v1/agent-tokens/requests", RequestsView.as_view()),
    path("v1/agent-tokens/requests/<str:id>/approve", ApproveView.as_view()),
    path("v1/agent-tokens/requests/<str:id>/reject", RejectView.as_view()),
    path("v1/agent-tokens/requests/<str:id>/cancel", CancelView.as_view()),
    path("v1/agent-tokens/requests/<str:id>/token", NewTokenView.as_view()),
    path("v1/agent-tokens/<str:id>/revoke", RevokeView.as_view()),
]
