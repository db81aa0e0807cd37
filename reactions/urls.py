from __future__ import annotations

from django.urls import path

from reactions.views import ReactionsView, ReactionView

urlpatterns = [
    path("v1/reactions", ReactionsView.as_view()),
    path("v1/reactions/<str:id>", ReactionView.as_view()),
]
