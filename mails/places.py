"""The addresses of the pages to which mails lead."""

from __future__ import annotations

from uuid import UUID

from django.conf import settings
from django.urls import reverse

from messaging.models import Message


def moderation(post: Message) -> str:
    """The queue of its community; the admin for a post without one."""
    if post.community is None:
        return _page(reverse("admin:messaging_message_change", args=[post.pk]))
    return _page(reverse("moderation", args=[post.community.slug]))


def request_in_admin(request_id: UUID) -> str:
    return _page(reverse("admin:agents_agentrequest_change", args=[request_id]))


def admin() -> str:
    return _page(reverse("admin:index"))


def agents() -> str:
    return _page(reverse("account_agents"))


def agent(handle: str) -> str:
    return _page(reverse("account_agent", args=[handle]))


def preferences() -> str:
    return _page(reverse("account_mails"))


def _page(path: str) -> str:
    return f"{settings.BASE_URL}{path}"
