"""Nothing that the rules of a site's community forbid appears in what its widget shows, whichever way it is sent.

An owner switches agents off, bans a person, blocks a word and has the posts of everyone reviewed, each in turn. Then
others try to get a post onto the page with the whole public API, and with communities and embeds of their own.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from django.db.models import Q

from messaging.models import Message
from tests.api import Api
from tests.embeds.intruders import BAN, FOREIGN_WIDGET, OUTSIDE, REVIEW, RULES, WAYS, Intruder, an_intruder
from tests.embeds.sites import Site, everything_shown
from tests.moving.imports.importing import import_own

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def by(tmp_path: Path) -> Intruder:
    return an_intruder(Site("community"), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("shows", ["community", "everyone"])
@pytest.mark.parametrize("rule", RULES)
def test_no_way_leads_around_a_rule(shows: str, rule: str, tmp_path: Path) -> None:
    by = an_intruder(Site(shows), tmp_path)
    RULES[rule](by)
    site = by.site
    outcomes: dict[str, str] = {}
    for number, (way, attempt) in enumerate(WAYS.items()):
        by.name = f"intruder{number}"
        before = set(Message.objects.values_list("pk", flat=True))
        attempt(by)
        outcomes[way] = _outcome(by)
        shown = everything_shown(site, known=("own", by.name))
        # Posts of others are shown with those of everyone alone, and then a ban keeps its person out.
        may_be_shown = shows == "everyone" and outcomes[way] == "elsewhere" and rule != BAN
        assert (by.name in shown["list"]) == any(by.name in names for names in shown.values()) == may_be_shown, way
        assert site.listed(parentId=by.first.pk) == [], way
        queue = Api.as_person(site.owner).get("/v1/moderation/queue", communityId=site.community.pk, limit=100).json
        stored = Message.objects.exclude(pk__in=before).filter(community=site.community)
        assert {str(post.pk) for post in stored} <= {message["id"] for message in queue["messages"]}, way
    if shows == "community":
        assert site.counted() <= 2
        people = site.ask("/v1/presence/participants", pageId=site.page.pk)["participants"]
        assert by.agent.account.handle not in {person["handle"] for person in people}
    inside = "pending" if rule == REVIEW else "refused"
    assert outcomes == dict.fromkeys(WAYS, inside) | dict.fromkeys(OUTSIDE, "elsewhere") | {FOREIGN_WIDGET: "refused"}


def _outcome(by: Intruder) -> str:
    """What became of an attempt: "elsewhere" is a post that is not of the owner's community."""
    named = f"{by.name} "
    posts = Message.objects.filter(Q(content__startswith=named) | Q(payload__text__startswith=named))
    statuses = set(posts.filter(community=by.site.community).values_list("status", flat=True))
    return statuses.pop() if statuses else "elsewhere" if posts else "refused"


def test_an_import_of_another_community_is_not_shown(by: Intruder) -> None:
    post = {"id": "1", "content": by.text, "pageUrl": by.site.url}
    import_own(by.folder / "posts.jsonl", by.community, post)
    assert all("intruder" not in names for names in everything_shown(by.site, known=("own", "intruder")).values())


def test_what_the_rules_allow_is_shown_in_every_way(by: Intruder) -> None:
    """The bystander of the tests above."""
    community = {"communityId": str(by.site.community.pk)}
    by.sent(by.own, **community)
    by.sent(by.agent.api, **community)
    shown = everything_shown(by.site, known=("own", "intruder"))
    assert all("intruder" in names for way, names in shown.items()), shown


def test_nobody_moderates_or_changes_what_the_site_of_another_shows(by: Intruder) -> None:
    site, post, embed = by.site, by.first.pk, f"/api/embeds/instances/{by.site.embed.pk}"
    own = f"/v1/moderation/communities/{by.community.pk}"
    theirs = f"/v1/moderation/communities/{site.community.pk}"
    signed_in = Api.as_signed_in(by.person)
    before = everything_shown(site, known=("own", "innocent"))
    refused = [
        by.own.post(f"{theirs}/hidden", {"messageId": by.elsewhere()}),
        by.own.delete(f"{theirs}/hidden/{post}"),
        by.own.post(f"/v1/moderation/messages/{post}/hide", {}),
        by.own.put(theirs, {"rules": {"readOnly": True}}),
        by.own.post(f"{theirs}/bans", {"accountId": str(site.owner.pk), "reason": "x"}),
        signed_in.put(embed, {"shows": "everyone"}),
        signed_in.delete(embed),
    ]
    assert {answer.status for answer in refused} == {403}, [answer.json for answer in refused]
    # On pages of one's own community, posts of others can be hidden, which changes no other site.
    assert by.own.post(f"{own}/hidden", {"messageId": str(post)}).status == 200
    assert by.own.post(f"{own}/bans", {"accountId": str(site.owner.pk), "reason": "x"}).status == 200
    assert everything_shown(site, known=("own", "innocent")) == before
