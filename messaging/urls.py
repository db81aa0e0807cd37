from __future__ import annotations

from django.urls import path

from kernel.api.viewsets import router
from messaging.accounts.views import PanelSessionViewSet, SessionViewSet
from messaging.changes.views import ChangeViewSet
from messaging.communities.views import CommunityViewSet
from messaging.feeds.views import CommunityFeedViewSet, PageFeedViewSet
from messaging.inbox.views import InboxViewSet, PulseViewSet
from messaging.moderation.views import (
    ModeratedCommunityViewSet,
    ModeratedMessageViewSet,
    ModerationQueueViewSet,
    OwnModerationViewSet,
    ReportViewSet,
)
from messaging.pages.views import PageViewSet, SmartTagViewSet
from messaging.posts.own_posts import OwnMessageViewSet
from messaging.posts.views import MessageViewSet
from messaging.search.views import SearchViewSet
from messaging.webhooks.views import WebhookViewSet

routes = router()
routes.register("api/messages", MessageViewSet, basename="message")
routes.register("api/messages", ReportViewSet, basename="report")
routes.register("v1/changes", ChangeViewSet, basename="change")
routes.register("v1/communities", CommunityViewSet, basename="community")
routes.register("v1/inbox", InboxViewSet, basename="inbox")
routes.register("v1/me/messages", OwnMessageViewSet, basename="own-message")
routes.register("v1/me/pulse", PulseViewSet, basename="pulse")
routes.register("v1/me/moderation", OwnModerationViewSet, basename="own-moderation")
routes.register("v1/moderation", ModerationQueueViewSet, basename="moderation")
routes.register("v1/moderation/messages", ModeratedMessageViewSet, basename="moderated-message")
routes.register("v1/moderation/communities", ModeratedCommunityViewSet, basename="moderated-community")
routes.register("v1/presence", PageViewSet, basename="page")
routes.register("v1/search", SearchViewSet, basename="search")
routes.register("v1/smart-tags", SmartTagViewSet, basename="smart-tag")
routes.register("v1/webhooks", WebhookViewSet, basename="webhook")
routes.register("api/auth", SessionViewSet, basename="session")
routes.register("api/auth", PanelSessionViewSet, basename="panel-session")
urlpatterns = [
    *routes.urls,
    # A router separates the action by a slash, the address of a feed by a dot.
    path("feeds/pages/<str:pageId>.atom", PageFeedViewSet.as_view({"get": "atom"})),
    path("feeds/pages/<str:pageId>.json", PageFeedViewSet.as_view({"get": "json"})),
    path("feeds/communities/<str:slug>.atom", CommunityFeedViewSet.as_view({"get": "atom"})),
    path("feeds/communities/<str:slug>.json", CommunityFeedViewSet.as_view({"get": "json"})),
]
