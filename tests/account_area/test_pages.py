"""What all pages under `/account/` have in common, and their refusals in the language of the person."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import translation

import config.urls  # noqa: F401  imports every class of refusals
from account_area.forms import SENTENCES, sentence
from account_area.templatetags import account_area as filters
from agents.services import reject_request
from kernel.api.exceptions import ApiError
from messaging.models import Account
from messaging.posts.exceptions import EmptyMessage
from tests.agents.factories import ApprovedFactory, RequestFactory, agent_with_token
from tests.embeds.making import an_embed
from tests.factories import MessageFactory, PersonFactory, SuperAdminFactory

pytestmark = pytest.mark.django_db
HOME = "/account/"
# Codes that no page of the account area answers with, or that its forms have sentences of their own for.
OF_THE_API_AND_THE_ADMIN = {
    "nothing_to_trust",
    *("account_being_erased", "agent_rate_limited", "agent_route_not_allowed"),
    *(
        "approval_in_use",
        "community_mismatch",
        "community_needed",
        "decision_not_undoable",
        "domain_not_allowed",
    ),
    *("embed_not_active", "file_refused", "idempotency_in_progress", "idempotency_key_reused", "import_undone"),
    "other_hosts",
    *("invalid_site_token", "jwks_off", "other_community", "site_account_suspended", "site_secret_not_found"),
    *("site_sign_in_off", "site_token_used"),
    *("internal_error", "invalid_credentials", "invalid_emoji", "invalid_idempotency_key", "invalid_input"),
    *("invalid_payload", "invalid_second_factor", "invalid_token", "invalid_url", "job_ended", "job_finished"),
    *("length_required", "not_acceptable", "not_authenticated", "own_account", "panel_required"),
    *("panel_session_ended", "parent_not_found", "quote_not_found", "recent_sign_in_required"),
    *("second_factor_required", "streams_disabled", "super_admin_required", "token_expired", "token_revoked"),
    "agent_suspended",
    *("too_many_emoji", "too_many_rows", "too_many_streams", "undo_too_late", "unknown_format", "unknown_page"),
    # Errors of RFC 6749 and RFC 8628, for programs.
    *("access_denied", "authorization_pending", "expired_token", "invalid_grant", "invalid_scope"),
    *("invalid_target", "slow_down", "unsupported_grant_type"),
    *("unknown_field", "unsupported_content_encoding", "unsupported_media_type", "user_mismatch"),
}


def test_without_a_session_a_page_redirects_to_the_sign_in_and_back() -> None:
    response = Client().get("/account/?a=1")
    assert response.status_code == 302
    assert response["Location"] == "/account/sign-in/?next=/account/%3Fa%3D1"


@pytest.mark.parametrize(
    ("pressed_on", "page"),
    [
        (
            "http://testserver/account/communities/x/moderation/?state=pending",
            "/account/communities/x/moderation/%3Fstate%3Dpending",
        ),
        ("https://evil.example/account/me/posts/", "/account/"),
        ("http://testserver//evil.example/", "/account/"),
        ("http://[", "/account/"),
        ("", "/account/"),
    ],
)
def test_a_button_without_a_session_leads_back_to_its_page(pressed_on: str, page: str) -> None:
    address = reverse("moderation-decide", args=["x"])
    response = Client().post(address, headers={"Referer": pressed_on} if pressed_on else {})
    assert response.status_code == 302
    assert response["Location"] == f"/account/sign-in/?next={page}"


def test_writes_of_a_person_are_throttled_and_reads_are_not(client: Client, settings: Any) -> None:
    settings.SOFT_THROTTLES = settings.SOFT_THROTTLES | {"account_page": (2, 60)}
    assert [client.get(HOME).status_code for _ in range(3)] == [200] * 3
    statuses = [client.post("/account/me/", {"name": "Ada", "language": "xx"}).status_code for _ in range(3)]
    assert statuses == [200, 200, 429]
    assert client.get(HOME).status_code == 200


def test_the_first_page_shows_what_a_person_has_and_explains_it_to_who_has_nothing(
    client: Client, person: Account, django_assert_max_num_queries: Any
) -> None:
    bystander = PersonFactory()
    an_embed(bystander, name="Not mine")
    agent_with_token(agent_handle="not_mine", requester=bystander)
    assert "Bring an agent" in client.get(HOME).content.decode()
    for n in range(3):
        an_embed(person, name=f"Harbour {n}")
        agent_with_token(agent_handle=f"helper_{n}", agent_name=f"Helper {n}", requester=person)
    ApprovedFactory(agent_handle="tokenless", requester=person)
    waiting = RequestFactory(agent_name="Waiting one", requester=person)
    reject_request(
        request_id=RequestFactory(agent_name="Refused one", requester=person).pk, by=SuperAdminFactory(), reason="No."
    )
    with django_assert_max_num_queries(9):
        page = client.get(HOME).content.decode()
    for text in ("Harbour 2", "Helper 2", "Waiting one", "Needs a token", "Not seen yet: add the code"):
        assert text in page, text
    for text in ("Bring an agent", "Not mine", "not_mine", "Refused one"):
        assert text not in page, text
    assert page.count("/tokens/new/") == 1
    assert reverse("account_agent_request", args=[waiting.pk]) in page


def test_a_page_is_not_stored_and_has_the_strict_policy(client: Client) -> None:
    response = client.get(HOME)
    assert response.status_code == 200
    assert response["Cache-Control"] == "private, no-store"
    assert {"Cookie", "Accept-Language"} <= set(response["Vary"].split(", "))
    assert "unsafe" not in response["Content-Security-Policy"]
    assert "script-src 'self'" in response["Content-Security-Policy"]


def test_the_browser_selects_the_language_and_a_person_another_one(client: Client, person: Account) -> None:
    response = client.get(HOME, headers={"Accept-Language": "de-AT, en;q=0.5"})
    assert (response["Content-Language"], response.content[:60].count(b'lang="de"')) == ("de", 1)
    person.language = "ar"
    person.save(update_fields=["language"])
    assert b'dir="rtl"' in client.get(HOME).content


def test_handles_and_addresses_keep_their_order_in_arabic(client: Client, person: Account) -> None:
    holder = agent_with_token(requester=person)
    paths = ("account_agents", []), ("account_inbox", []), ("account_agent_delete", [holder.account.handle])
    for name, values in paths:
        text = client.get(reverse(name, args=values), headers={"Accept-Language": "ar"}).content.decode()
        shown = re.sub(r"<(title|code)>.*?</\1>|<[^>]*title=[^>]*>", "", text)
        assert f"@{holder.account.handle}</bdi>" in shown, name
        assert not re.search(r"(?<!<bdi>)(?<!<bdi dir=\"ltr\">)@helper", shown), name


def test_a_text_is_isolated_as_text() -> None:
    isolated = '&lt;b&gt; <bdi dir="ltr">@ada_l</bdi>: a@b.example, <bdi dir="ltr">https://a.example/?x&amp;y</bdi>'
    assert filters.isolated("<b> @ada_l: a@b.example, https://a.example/?x&y") == isolated
    assert filters.isolated("cag_Ab1…") == '<bdi dir="ltr">cag_Ab1…</bdi>'


def test_another_method_and_nul_are_refused_with_a_page(client: Client) -> None:
    assert client.put(HOME).status_code == 405
    response = client.get(HOME, {"q": "a\x00b"})
    assert response.status_code == 400
    assert response["Content-Type"].startswith("text/html")


def test_the_first_page_needs_eight_queries_at_most(client: Client, django_assert_max_num_queries: object) -> None:
    with django_assert_max_num_queries(8):  # type: ignore[operator]
        assert client.get(reverse("account")).status_code == 200


def refusals(of: type[ApiError] = ApiError) -> Iterator[type[ApiError]]:
    for each in of.__subclasses__():
        yield each
        yield from refusals(each)


def test_every_code_has_a_sentence_or_is_not_of_a_page() -> None:
    codes = {each.default_code for each in refusals() if each.__module__.split(".")[0] != "tests"}
    assert codes - SENTENCES.keys() == OF_THE_API_AND_THE_ADMIN


def test_a_sentence_is_in_the_language_of_the_page() -> None:
    with translation.override("de"):
        assert sentence(EmptyMessage()) == "Ein Beitrag braucht einen Text."


@pytest.mark.django_db
def test_an_emptied_post_is_refused_in_the_language_of_the_person(client: Client, person: Account) -> None:
    post = MessageFactory(author=person)
    path = f"/account/me/posts/{post.pk}/edit/"
    page = client.post(path, {"content": " "}, headers={"Accept-Language": "fr"}).content.decode()
    assert "Un message doit contenir du texte." in page
