"""The commands with which an operator answers a person who asks: who, and why."""

from __future__ import annotations

from typing import Any

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from django.utils import timezone

from embeds.services import disable_embed
from mails.models import RefusedAddress
from messaging.models import Ban, ClosedPage, Page
from messaging.models.account import SignIn
from messaging.pages.services import normalize_url
from tests.agents.factories import agent_with_token
from tests.commands.running import refused, run_json
from tests.embeds.making import an_embed
from tests.factories import CommunityFactory, MessageFactory, PersonFactory, SuperAdminFactory

pytestmark = pytest.mark.django_db


def test_who_tells_the_state_of_a_person(django_assert_max_num_queries: Any) -> None:
    person, other = PersonFactory(password="four plain quiet words"), PersonFactory()
    holder = agent_with_token(requester=person)
    agent_with_token(requester=other)
    SignIn.objects.create(account=person, door="pages", first="password")
    SignIn.objects.create(account=other, door="pages", first="password", refused=True)
    Ban.objects.create(community=CommunityFactory(slug="valley"), account=person, reason="Spam")
    Authenticator.objects.create(user=person, type=Authenticator.Type.TOTP, data={})
    EmailAddress.objects.create(user=person, email="p@example.com", verified=True, primary=True)
    with django_assert_max_num_queries(13):
        said = run_json("who", f"@{person.handle}")
    assert said["state"] == "active"
    assert said["bans"] == [{"community": "valley", "reason": "Spam"}]
    assert (said["secondFactors"], said["mail"], said["superAdmin"]) == (["totp"], "verified", False)
    assert said["lastSignIn"]
    assert said["lastRefusedSignIn"] is None, "that of another person"
    assert said["agents"] == {holder.agent.account.handle: "active"}
    assert "p@example.com" not in str(said)
    RefusedAddress.objects.create(account=person, address="p@example.com", reason="550 unknown")
    person.is_active = False
    person.save()
    said = run_json("who", person.handle)
    assert (said["state"], said["mail"]) == ("suspended", "refused: 550 unknown")
    assert said["agents"] == {holder.agent.account.handle: "suspended"}
    person.erasure_due_at = timezone.now()
    person.save()
    assert run_json("who", person.handle)["state"].startswith("is erased at ")
    assert run_json("who", other.handle)["mail"] == "no address"


def test_who_tells_the_state_of_an_agent_and_refuses_an_unknown_handle() -> None:
    holder = agent_with_token()
    said = run_json("who", holder.agent.account.handle)
    assert (said["kind"], said["operator"]) == ("agent", holder.agent.operator.handle)
    assert "hasPassword" not in said
    assert refused("who", "nobody_here") == "@nobody_here does not exist."


def test_why_explains_a_page_and_the_embeds_that_name_its_host() -> None:
    url = "https://news.example/story?utm_source=x"
    shown = an_embed(domain_whitelist=["news.example"])
    disabled = an_embed(domain_whitelist=["news.example"])
    disable_embed(embed_id=disabled.pk, by=SuperAdminFactory())
    other = an_embed(domain_whitelist=["other.example"])
    assert run_json("why", url)["posts"] == 0
    assert not Page.objects.exists(), "it stores nothing"
    page = Page.objects.get(pk=normalize_url(url=url).page_id)
    MessageFactory(page=page)
    ClosedPage.objects.create(community=shown.community, page=page)
    said = run_json("why", url)
    assert (said["pageId"], said["normalizedUrl"]) == (page.pk, page.normalized_url)
    assert (said["posts"], said["replies"], said["closedIn"]) == (1, 0, [shown.community.slug])
    assert {one["id"]: (one["isShown"], one["reason"]) for one in said["embeds"]} == {
        str(shown.pk): (True, "all_pages"),
        str(disabled.pk): (False, "disabled"),
    }
    (one,) = run_json("why", url, "--embed", str(other.pk))["embeds"]
    assert (one["isShown"], one["reason"]) == (False, "not_whitelisted")


@pytest.mark.parametrize("url", ["news.example/story", "ftp://news.example/", "https://", "x" * 3000])
def test_why_refuses_what_is_no_address_of_a_page(url: str) -> None:
    assert "is not the http or https address" in refused("why", url)


def test_why_refuses_an_unknown_embed() -> None:
    missing = "01890a5d-ac96-774b-bcce-b302099a8057"
    assert refused("why", "https://news.example/", "--embed", missing) == f"Embed {missing} does not exist."
