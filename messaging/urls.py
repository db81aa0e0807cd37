from __future__ import annotations

from config.api.viewsets import router
from messaging.views.changes import ChangeViewSet
from messaging.views.inbox import InboxViewSet
from messaging.views.messages import MessageViewSet
from messaging.views.pages import PageViewSet, SmartTagViewSet
from messaging.views.sessions import SessionViewSet
from messaging.views.webhooks import WebhookViewSet

routes = router()
routes.register("api/messages", MessageViewSet, basename="message")
routes.register("v1/changes", ChangeViewSet, basename="change")
routes.register("v1/inbox", InboxViewSet, basename="inbox")
routes.register("v1/presence", PageViewSet, basename="page")
routes.register("v1/smart-tags", SmartTagViewSet, basename="smart-tag")
routes.register("v1/webhooks", WebhookViewSet, basename="webhook")
routes.register("api/auth", SessionViewSet, basename="session")
urlpatterns = routes.urls
