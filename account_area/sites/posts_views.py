"""The posts of a site's community, where its moderators decide on them."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse

from account_area.moderation.communities import page_of, queue_of
from account_area.moderation.queries import public_posts_of
from account_area.page import READ_METHODS, account_page
from account_area.people import person_of
from account_area.sites.queries import has_other_sites, own_site, site_page
from messaging.communities.moderators import moderates
from messaging.models import Community


@account_page(methods=READ_METHODS)
def posts(request: HttpRequest, embed: UUID) -> HttpResponse:
    site = own_site(request, embed)
    community = site.community
    may_decide = moderates(person_of(request), community.pk)
    listed = queue_of(request, community) if may_decide else _read_only(request, community)
    shared = {"has_other_sites": has_other_sites(site), "may_decide": may_decide}
    return site_page(request, "site-posts", site, shared | listed)


def _read_only(request: HttpRequest, community: Community) -> dict[str, Any]:
    tab = "recent"
    listed = public_posts_of(community=community, page=page_of(request, community, tab))
    return listed | {"community": community, "tab": tab}
