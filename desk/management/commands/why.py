from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError

from embeds import domains
from embeds.checkup import check_page, parts_of
from embeds.models import Embed
from kernel.api.exceptions import ApiError
from messaging.models import ClosedPage
from messaging.pages.presence import NOTHING, presence_of
from messaging.pages.services import communities_of, normalized

EMBEDS_MAX = 20


class Command(BaseCommand):
    help = (
        "Explain a web page: its page id and URL, its posts, the communities that have closed it, and for the embeds "
        "that name its host (or --embed) whether the widget shows there, with the rule that decides. One JSON object; "
        "it stores nothing."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("url")
        parser.add_argument("--embed", type=UUID, metavar="ID", help="explain this embed alone")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            page = normalized(options["url"])
            host, _path = parts_of(options["url"])
        except (ApiError, ValueError):
            raise CommandError(f"{options['url']!r} is not the http or https address of a web page.") from None
        posts = presence_of({page.page_id}, None).get(page.page_id, NOTHING)
        closed = ClosedPage.objects.filter(page=page.page_id).values_list("community__slug", flat=True)
        said = {
            "pageId": page.page_id,
            "normalizedUrl": page.normalized_url,
            "posts": posts.posts,
            "replies": posts.replies,
            "communities": [community.slug for community in communities_of(page)],
            "closedIn": list(closed[:EMBEDS_MAX]),
            "embeds": [_explained(embed, options["url"]) for embed in _embeds(host, options["embed"])],
        }
        self.stdout.write(json.dumps(said, default=str))


def _embeds(host: str, embed_id: UUID | None) -> list[Embed]:
    """Those whose lists name the host. An embed without a whitelist shows anywhere, so it is asked for by its id."""
    live = Embed.objects.live().select_related("community")
    if embed_id is None:
        return list(live.filter(domain_whitelist__overlap=list(domains.naming_entries(host)))[:EMBEDS_MAX])
    found = live.filter(pk=embed_id).first()
    if found is None:
        raise CommandError(f"Embed {embed_id} does not exist.")
    return [found]


def _explained(embed: Embed, url: str) -> dict[str, Any]:
    verdict = check_page(embed, url)
    return {
        "id": embed.pk,
        "name": embed.name,
        "community": embed.community.slug,
        "isShown": verdict.is_shown,
        "reason": verdict.reason,
        "rule": verdict.rule,
    }
