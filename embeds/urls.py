from __future__ import annotations

from django.urls import path

from embeds.views.analytics import EventsView, SummaryView
from embeds.views.config import ClientConfigView, EmbedConfigView
from embeds.views.instances import BlacklistView, InstancesView, InstanceView

urlpatterns = [
    path("api/embeds/client-config", ClientConfigView.as_view()),
    path("api/embeds/config/<str:service_id>", EmbedConfigView.as_view()),
    path("api/embeds/instances", InstancesView.as_view()),
    path("api/embeds/instances/<str:id>", InstanceView.as_view()),
    path("api/embeds/instances/<str:id>/blacklist", BlacklistView.as_view()),
    path("api/embeds/analytics/events", EventsView.as_view()),
    path("api/embeds/analytics/<str:id>", SummaryView.as_view()),
]
