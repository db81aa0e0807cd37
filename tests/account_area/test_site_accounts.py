"""The page of the accounts of a site: the choice, the secret, the code, and the tester of tokens."""

from __future__ import annotations

import html
import re
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client

from embeds.models import SiteSecret
from embeds.site_accounts.code import LANGUAGES
from embeds.site_accounts.keys import secrets_of
from messaging.models import Moderator
from tests.agents.racing import race
from tests.embeds.site_tokens import Site

pytestmark = pytest.mark.django_db


class Page:
    """The page of a site, for its owner."""

    def __init__(self, **fields: Any) -> None:
        self.site = Site(**fields)
        self.client = Client()
        self.client.force_login(self.site.owner)
        self.path = f"/account/sites/{self.site.embed.pk}/accounts/"

    def get(self) -> str:
        return html.unescape(self.client.get(self.path).content.decode())

    def post(self, path: str = "", **form: Any) -> str:
        response = self.client.post(self.path + path, form, follow=True)
        assert response.status_code == 200
        return html.unescape(response.content.decode())

    def secret_of(self, page: str) -> str:
        return (re.findall(r"sso_[\w-]{43}", page) or [""])[0]


def test_the_choice_is_saved_with_its_address(settings: Any) -> None:
    page = Page(sign_in="service")
    assert "Address of your public keys" not in page.get()
    assert "Saved." in page.post(sign_in="both", address="https://site.example/login")
    page.site.embed.refresh_from_db()
    assert (page.site.embed.sign_in, page.site.embed.sign_in_url) == ("both", "https://site.example/login")
    assert "Saved." not in page.post(sign_in="both", address="javascript:alert(1)")
    settings.SSO_JWKS = True
    assert "Saved." not in page.post(sign_in="both", address="", keys="https://10.0.0.1/jwks")
    assert "Saved." in page.post(sign_in="both", address="", keys="https://site.example/jwks")
    page.site.embed.refresh_from_db()
    assert (page.site.embed.sign_in_url, page.site.embed.jwks_url) == ("", "https://site.example/jwks")


def test_a_secret_is_shown_once_replaced_and_ended() -> None:
    page, bystander = Page(), Site()
    SiteSecret.objects.filter(embed=page.site.embed).delete()
    form = {"submission": str(uuid4())}
    first = page.secret_of(page.post("secret/", **form))
    assert page.site.send(page.site.token(key=first)).status == 200
    again = page.post("secret/", **form)
    assert ("was shown once" in again, page.secret_of(again)) == (True, "")
    assert page.secret_of(page.get()) == ""
    second = page.secret_of(page.post("secret/", submission=str(uuid4())))
    assert secrets_of(page.site.embed) == [second, first]
    assert "The former one ends:" in page.get()
    for said in ("Ended.", "no secret any more"):
        assert said in page.post("secret/end/")
    assert (secrets_of(page.site.embed), secrets_of(bystander.embed)) == ([], [bystander.secret])


@pytest.mark.django_db(transaction=True)
def test_of_presses_at_once_one_shows_the_secret() -> None:
    page, form = Page(), {"submission": str(uuid4())}
    clients = [Client() for _ in range(3)]
    for client in clients:
        client.force_login(page.site.owner)
    posted = race(3, lambda number: clients[number].post(f"{page.path}secret/", form).content.decode())
    shown = [secret for secret in map(page.secret_of, posted) if secret]
    assert [shown[0], page.site.secret] == secrets_of(page.site.embed)
    assert len(shown) == 1


def test_the_tester_says_what_a_token_says_and_what_is_wrong_with_it() -> None:
    page = Page()
    good = page.site.token(name="Zoë <b>")
    for _ in range(2):
        shown = page.post(token=f" {good} ")
        assert "This token signs its reader in." in shown
        assert '"name": "Zoë <b>"' in shown
    assert "<b>" not in page.client.post(page.path, {"token": good}).content.decode().partition("What it says")[2]
    wrong = page.post(token=page.site.token(aud="x", key="another secret of enough characters", moderator="x"))
    for text in ("signed with another key", "“aud” has to be", '<code dir="ltr">moderator</code>'):
        assert text in wrong
    assert "no JSON Web Token" in page.post(token="x")
    # A browser asks in the language of the person.
    german = page.client.post(page.path, {"token": "x"}, headers={"Accept-Language": "de"}).content.decode()
    assert "Das ist kein JSON Web Token." in german


def test_the_code_of_each_language_names_the_site() -> None:
    page = Page()
    assert page.get().count(str(page.site.embed.pk)) >= len(LANGUAGES)


def test_without_the_rights_of_a_moderator_the_page_says_so() -> None:
    page = Page()
    Moderator.objects.filter(account=page.site.owner).delete()
    assert "Only moderators of the community" in page.get()
    page.post(sign_in="service", address="https://site.example/")
    assert "not a moderator" in page.post("secret/", submission=str(uuid4()))
    page.site.embed.refresh_from_db()
    assert (page.site.embed.sign_in, page.site.embed.sign_in_url) == ("own", "")
    assert secrets_of(page.site.embed) == [page.site.secret]
