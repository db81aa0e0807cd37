"""Signing in at an OpenID Connect provider, which runs in this process."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client

from account_area.sign_in.adapters import AccountAdapter
from config.derived import openid_connect
from messaging.models import Account, SignIn
from tests.account_area.oidc_provider import BEGIN, CLIENT_ID, CLIENT_SECRET, Provider, begin, running_provider
from tests.account_area.second_factors import add_app, age, code_of
from tests.factories import PersonFactory

pytestmark = pytest.mark.django_db
HANDLE, SIGN_IN = "/account/sign-in/provider/handle/", "/account/sign-in/"
CONFIRM = "/account/confirm/"
ADA = {"sub": "ada-1", "email": "ada@example.com", "email_verified": True, "preferred_username": "Ada.L", "name": "Ada"}


@pytest.fixture(scope="module")
def running() -> Iterator[Provider]:
    with running_provider() as provider:
        yield provider


@pytest.fixture
def provider(running: Provider, settings: Any) -> Provider:
    settings.SOCIALACCOUNT_PROVIDERS = openid_connect(
        issuer=running.url, client_id=CLIENT_ID, secret=CLIENT_SECRET, name="Example ID"
    )
    running.claims = dict(ADA)
    return running


def go(client: Client, provider: Provider, **sent: str) -> Any:
    """Press the button, agree at the provider, and come back."""
    return client.get(provider.authorize(begin(client, provider, **sent)).replace("http://testserver", ""))


def ada(provider: Provider) -> Client:
    """The session of a new person of the provider."""
    client = Client()
    go(client, provider)
    client.post(HANDLE, {"handle": "ada_l", "name": "Ada"})
    return client


def logged() -> list[Any]:
    """The factors in the log of sign-ins, and whether each was refused."""
    return list(SignIn.objects.order_by("id").values_list("first", "second", "refused"))


def test_a_new_person_of_the_provider_chooses_a_handle(provider: Provider) -> None:
    client = Client()
    assert "Sign in with Example ID" in client.get(SIGN_IN).content.decode()
    assert go(client, provider)["Location"] == HANDLE
    assert not set(provider.tokens) & set(re.findall(r"[\w-]+", str(client.session.items())))
    assert client.get(HANDLE).context["form"].initial == {"handle": "ada_l", "name": "Ada"}
    taken = PersonFactory().handle
    assert "already in use" in client.post(HANDLE, {"handle": taken, "name": "Ada"}).content.decode()
    assert client.post(HANDLE, {"handle": "ada_l", "name": "Ada Lovelace"})["Location"] == "/account/"
    person = Account.objects.get(handle="ada_l")
    assert [(row.email, row.verified) for row in person.emailaddress_set.all()] == [("ada@example.com", True)]
    assert not person.has_usable_password()
    again = Client()
    assert go(again, provider, next="/account/me/security/")["Location"] == "/account/me/security/"
    assert again.get("/account/me/security/").status_code == 200
    assert Account.objects.filter(kind="human").count() == 2


@pytest.mark.parametrize("is_verified", [True, False])
def test_an_account_is_never_found_by_its_address(provider: Provider, is_verified: bool) -> None:
    """Whether the provider has verified the address or not."""
    victim = PersonFactory()
    victim.emailaddress_set.create(email="ada@example.com", verified=True, primary=True)
    provider.claims["email_verified"] = is_verified
    client = Client()
    assert go(client, provider)["Location"] == HANDLE
    client.post(HANDLE, {"handle": "ada_2", "name": "Ada"})
    assert int(client.session["_auth_user_id"].replace("-", ""), 16) != victim.pk.int
    assert not Account.objects.get(handle="ada_2").emailaddress_set.exists()


def test_the_second_factor_is_asked_for_after_the_provider(provider: Provider) -> None:
    ada(provider)
    secret = add_app(Account.objects.get(handle="ada_l"))
    again = Client()
    assert go(again, provider)["Location"] == "/account/sign-in/code/"
    assert logged() == [("provider", "", False), ("provider", "code", True)]
    assert again.post("/account/sign-in/code/", {"code": code_of(secret)})["Location"] == "/account/"
    assert logged() == [("provider", "", False), ("provider", "app", False)]


def test_who_has_only_the_provider_confirms_by_signing_in_there_again(provider: Provider) -> None:
    client, path = ada(provider), "/account/me/password/"
    assert client.get(path).status_code == 200
    age(client)
    form = {"password": "one of a thief"}
    for response in (client.get(path), client.post(path, form)):
        assert response["Location"] == f"{CONFIRM}?next=%2Faccount%2Fme%2Fpassword%2F"
    assert "Sign in with Example ID" in client.get(CONFIRM, {"next": path}).content.decode()
    # The account of a thief at the provider is not connected, and confirms nothing.
    assert client.post(BEGIN, {"process": "connect"})["Location"] == CONFIRM
    assert client.get(path).status_code == 302
    assert go(client, provider, next=path)["Location"] == path
    assert client.get(path).status_code == 200
    assert Account.objects.get(pk=client.session["_auth_user_id"]).handle == "ada_l"


def test_a_sign_in_of_another_person_at_the_provider_confirms_nothing(provider: Provider) -> None:
    client = ada(provider)
    age(client)
    provider.claims |= {"sub": "thief-1", "email": "thief@example.com"}
    assert go(client, provider)["Location"] == HANDLE
    assert "_auth_user_id" not in client.session


def test_who_has_nothing_to_confirm_with_is_not_kept_out(provider: Provider, settings: Any) -> None:
    client = ada(provider)
    age(client)
    settings.SOCIALACCOUNT_PROVIDERS = {}
    assert "errorlist" not in client.get("/account/me/password/").content.decode()
    assert client.post("/account/me/password/", {"password": "a long enough passphrase"}).status_code == 302
    assert Account.objects.get(handle="ada_l").check_password("a long enough passphrase")


def test_a_suspended_person_does_not_sign_in(provider: Provider) -> None:
    ada(provider)
    Account.objects.filter(handle="ada_l").update(is_active=False)
    again = Client()
    assert go(again, provider)["Location"] == SIGN_IN
    assert "_auth_user_id" not in again.session


def test_the_answer_of_another_browser_is_refused(provider: Provider) -> None:
    page = Client().post(BEGIN).content.decode()
    address = html.unescape(re.findall(r"content=\"0;url=([^\"]+)\"", page)[0])
    victim = Client()
    assert victim.get(provider.authorize(address).replace("http://testserver", ""))["Location"] == SIGN_IN
    assert victim.get(f"{BEGIN}back/?code=x&state=y")["Location"] == SIGN_IN
    assert "_auth_user_id" not in victim.session


def test_a_provider_that_does_not_answer_is_told(settings: Any) -> None:
    settings.SOCIALACCOUNT_PROVIDERS = openid_connect(
        issuer="http://127.0.0.1:9", client_id=CLIENT_ID, secret=CLIENT_SECRET, name="Example ID"
    )
    response = Client().post(BEGIN, follow=True)
    assert "did not succeed" in response.content.decode()


def test_without_a_provider_there_is_no_such_sign_in() -> None:
    assert Client().post(BEGIN).status_code == 404
    assert Client().get(HANDLE)["Location"] == SIGN_IN
    assert "provider" not in Client().get(SIGN_IN).content.decode()


def test_closed_registration_is_closed_for_people_of_the_provider(provider: Provider, settings: Any) -> None:
    settings.REGISTRATION_OPEN = False
    client = Client()
    assert go(client, provider)["Location"] == SIGN_IN
    assert "cannot be created" in client.get(SIGN_IN).content.decode()
    assert client.post(HANDLE, {"handle": "ada_l", "name": "Ada"})["Location"] == SIGN_IN
    assert not Account.objects.filter(handle="ada_l").exists()


def test_allauth_asks_nobody_again_by_itself() -> None:
    assert AccountAdapter().is_reauthentication_required(app="allauth.mfa") is False
