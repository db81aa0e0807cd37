"""One valid credential of every kind, and the columns, addresses and modules that a further kind would appear in."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import parse_qs, urlsplit

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from django.conf import settings
from django.core import mail
from django.test import Client

from mails.drafts import draft_url
from mails.kinds import Kind
from mails.views import unsubscribe_url
from messaging.accounts import second_factor
from messaging.models import Account
from oauth import device_grants
from tests.account_area.oidc_provider import CLIENT_SECRET, Provider, begin
from tests.account_area.second_factors import add_app, recovery_codes_of
from tests.agents.factories import ApprovedFactory
from tests.api import Api
from tests.embeds.site_tokens import Site
from tests.factories import MessageFactory, PersonFactory, SuperAdminFactory
from tests.oauth.consents import program_let_in
from tests.panel_sessions import panel_headers, secret_in
from tests.waiting import eventually
from tests.webhooks.making import GLOBAL_URL

PASSWORD = "correct horse battery"
KEY = "a key that only its sender knows"
# Columns that hold bytes or have the name of a secret: the credentials of `credentials` that they are derived from.
COLUMNS = {
    "account_emailconfirmation.key": "key of a mail confirmation",
    "agents_agenttoken.digest": "agent token",
    "api_secretfingerprint.fingerprint": "ROOT_KEY",
    "api_storedresponse.sealed": "agent token",
    "api_storedresponse.key_mac": "Idempotency-Key",
    "django_session.session_data": "state of a sign-in at a provider",
    "django_session.session_key": "session of the pages",
    "embeds_sitesecret.previous_secret": "former secret of a site",
    "embeds_sitesecret.secret": "secret of a site",
    "messaging_account.password": "password",
    "messaging_panelsession.digest": "panel session",
    "messaging_personexportpart.data": "agent token",
    "messaging_webhook.previous_secret": "former secret of a webhook",
    "messaging_webhook.secret": "secret of a webhook",
    "mfa_authenticator.data": "secret of an authenticator app",
    "oauth_codegrant.code_digest": "code of a program",
    "oauth_refreshtoken.digest": "refresh token of a program",
    "oauth_devicegrant.answer": "agent token",
    "oauth_devicegrant.device_digest": "device code",
    "oauth_devicegrant.user_digest": "user code",
    "socialaccount_socialapp.secret": "secret of the client of a provider",
    "socialaccount_socialtoken.token": "token of a provider",
    "socialaccount_socialtoken.token_secret": "token of a provider",
    "token_blacklist_outstandingtoken.token": "refresh token",
}
# Others, and why they open nothing.
OPEN_COLUMNS = {
    "account_area_accountsession.session_id": "the digest that is the key of the session",
    "account_area_submission.key": "of a form that was carried out, for the account that sent it",
    "agents_refusedcall.code": "the code of a refusal",
    "api_storedresponse.body_mac": "compares the bodies of two requests",
    "auth_permission.codename": "the name of a permission",
    "changes_change.data": "what the readers of the change log get",
    "embeds_dailysalt.salt": "hides the visitors of a day, and opens nothing",
    "embeds_event.visitor": "a hash of the network and browser of a visitor",
    "embeds_hostproof.token": "the owner of a domain publishes it in a TXT record",
    "embeds_sitesecret.previous_secret_until": "a time",
    "embeds_usedsitetoken.digest": "of the id of a token that was exchanged",
    "embeds_visitor.visitor": "a hash of the network and browser of a visitor",
    "mails_notice.data": "what the readers of the change log get",
    "messaging_accountrecordpart.data": "the record of an erased account",
    "messaging_erasedhandle.digest": "of a handle",
    "messaging_erasedhandlekey.encrypted_key": "hides erased handles, encrypted",
    "messaging_rendering.source": "a digest of a public text",
    "messaging_webhook.previous_secret_until": "a time",
    "messaging_webhookdelivery.status_code": "of a response",
    "moving_move.digest": "of the file of an import",
    "moving_movepart.data": "the posts of an import",
    "oauth_refreshtoken.access_token_id": "refers to the row of an agent token",
    "oauth_devicegrant.token_id": "refers to the row of an agent token",
    "socialaccount_socialapp.key": "of OAuth 1",
    "token_blacklist_blacklistedtoken.token_id": "refers to a row of a token that was logged out",
    "token_blacklist_outstandingtoken.jti": "the id of a token, without its signature",
}
SECRET_COLUMN = "secret|key|token|digest|salt|mac$|fingerprint|password|code|nonce|seed|jti|session_(data|id)|^data$"
# Addresses with a text that is not a public name, by the name of their route.
ROUTES = {
    "account_confirm_email": "key of a mail confirmation",
    "account_reset_password_from_key": "link to a new password",
    "mailed-draft": "link that releases a post",
    "unsubscribe": "link that ends a kind of mails",
}
OPEN_ROUTES = {
    "account_end_session": "the digest that is the key of a session of the person who is signed in",
    "account_agent_token_revoke": "the id of a token",
    "account_agent_token_rotate": "the id of a token",
    "account_open_sign_in": "signs nobody in, and is not stored",
    "error": "the code of a refusal",
}
SECRET_PARAMETER = "secret|key|token|code"
# Modules that sign, encrypt or draw random texts.
MODULES = {
    "agents/tokens.py": "agent token",
    "embeds/site_accounts/keys.py": "secret of a site",
    "kernel/pages/sessions.py": "session of the pages",
    "config/derived.py": "access token",
    "kernel/fingerprints.py": "ROOT_KEY",
    "config/secrets.py": "SECRET_KEY",
    "kernel/writes/idempotency.py": "Idempotency-Key",
    "mails/drafts.py": "link that releases a post",
    "mails/views.py": "link that ends a kind of mails",
    "messaging/posts/demo.py": "password",
    "messaging/accounts/sessions.py": "panel session",
    "messaging/accounts/second_factor.py": "secret of an authenticator app",
    "messaging/webhooks/secrets.py": "secret of a webhook",
    "oauth/code_grants.py": "code of a program",
    "oauth/device_grants.py": "device code",
}
OPEN_MODULES = {
    "account_area/sign_in/openings.py": "the link signs nobody in, and is not stored",
    "kernel/api/pagination.py": "cursors give no rights",
    "kernel/api/signing.py": "what the others call",
    "kernel/api/stored_secrets.py": "what the others call",
    "kernel/writes/attempts.py": "hides whose attempts are counted",
    "embeds/analytics/ingest.py": "hides the visitors of a day",
    "embeds/host_proofs.py": "makes what owners of domains publish in TXT records",
    "messaging/models/account.py": "hides erased handles",
    "messaging/privacy/erased_handles.py": "hides erased handles",
    "messaging/webhooks/targets.py": "challenges that are answered once, and stored nowhere",
    "runtime/setup.py": "makes the password of PostgreSQL, which the file of settings has",
    "messaging/accounts/visitors.py": "the cookie of a known browser signs nobody in, and is not stored",
}
SIGNS = (
    r"(signing|stored_secrets)\.(mac|encrypt|dumps)\(|hmac\.(digest|new)\(|token_urlsafe\(|token_hex\(|token_bytes\("
    r"|urandom\(|get_random_string\(|TimestampSigner|default_token_generator"
)


def credentials(provider: Provider) -> dict[str, str]:
    """Each is created by one call and used by another."""
    boss = SuperAdminFactory(password=PASSWORD)
    return {
        "password": PASSWORD,
        "Idempotency-Key": KEY,
        **{name: getattr(settings, name) for name in ("SECRET_KEY", "ROOT_KEY", "TOKEN_PEPPER")},
        **_of_programs(boss),
        **_of_sites(),
        **_of_pages(boss),
        **_of_second_factors(),
        **_of_provider(provider),
    }


def _of_programs(boss: Account) -> dict[str, str]:
    """Of the API: of a person, an agent, a receiver of webhooks and the panel."""
    session = Api().post("/api/auth/login", {"handle": boss.handle, "password": PASSWORD}).json
    signed_in = Api({"Authorization": f"Bearer {session['accessToken']}"})
    user = signed_in.post("/api/auth/embed-token", key=KEY).json
    person = Api({"Authorization": f"Bearer {user['token']}", "X-User-Id": user["userId"]})
    approved = ApprovedFactory(requester=boss)
    agent = person.post(f"/v1/agent-tokens/requests/{approved.pk}/token", {}, key=KEY).json["token"]
    hook = {"url": GLOBAL_URL, "agentId": str(approved.agent_id)}
    webhook = person.post("/v1/webhooks", hook, key=KEY).json
    rotated = person.post(f"/v1/webhooks/{webhook['id']}/rotate").json
    panel_secret = secret_in(signed_in.post("/api/auth/panel-session", key=KEY, headers=panel_headers()))
    assert Api().post("/api/auth/panel-token", headers=panel_headers(panel_secret)).status == 200
    assert Api().post("/api/auth/refresh", {"refreshToken": session["refreshToken"]}).status == 200
    assert Api.as_agent(agent).get("/v1/agent/self").status == 200
    assert person.get("/v1/agent-tokens").status == 200
    sent = {"client_name": "cm", "handle": "a_program", "purpose": "Waits for its person to confirm.", "scope": "post"}
    device = Api().post("/oauth/device_authorization", sent).json
    poll = {"grant_type": device_grants.GRANT_TYPE, "device_code": device["device_code"]}
    assert Api().post("/oauth/token", poll).error == "authorization_pending"
    assert approved.agent is not None
    _client, code, refresh_token = program_let_in(approved.agent)
    return {
        "code of a program": code,
        "refresh token of a program": refresh_token,
        "device code": device["device_code"],
        "user code": device["user_code"].replace("-", ""),
        "access token": session["accessToken"],
        "refresh token": session["refreshToken"],
        "user token": user["token"],
        "agent token": agent,
        "secret of a webhook": rotated["secret"].removeprefix("whsec_"),
        "former secret of a webhook": webhook["secret"].removeprefix("whsec_"),
        "panel session": panel_secret,
    }


def _of_sites() -> dict[str, str]:
    site = Site()
    rotated = site.api.post(f"{site.path}/site-secret", key=KEY).json["secret"]
    assert [site.send(site.token(key=secret)).status for secret in (site.secret, rotated)] == [200, 200]
    names = ("secret of a site", "former secret of a site")
    return dict(zip(names, (secret.removeprefix("sso_") for secret in (rotated, site.secret)), strict=True))


def _of_pages(boss: Account) -> dict[str, str]:
    """Of a session of the pages, and of the links in mails."""
    client = Client(enforce_csrf_checks=True)
    client.get("/account/sign-in/")
    csrf = {"csrfmiddlewaretoken": client.cookies["csrftoken"].value}
    client.post("/account/sign-in/", {"login": boss.handle, "password": PASSWORD, **csrf})
    app = client.get("/account/me/security/app/").context["secret"]
    assert app not in client.session["pending_totp"]
    csrf = {"csrfmiddlewaretoken": client.cookies["csrftoken"].value}
    client.post("/account/me/address/", {"address": "new@example.com", **csrf})
    confirmation = in_last_mail(r"/account/address/([^/\s]+)/")
    EmailAddress.objects.create(user=boss, email="boss@example.com", verified=True, primary=True)
    Client().post("/account/password/reset/", {"address": "boss@example.com"})
    reset = in_last_mail(r"/account/password/reset/[^/]+/([^/]+)/")
    unsubscribing = urlsplit(unsubscribe_url(boss.pk, Kind.DECISION)).path
    releasing = urlsplit(draft_url(boss.pk, MessageFactory())).path
    for path in (f"/account/address/{confirmation}/", unsubscribing, releasing, "/admin/"):
        assert client.get(path).status_code == 200, path
    return {
        "session of the pages": client.cookies["sessionid"].value,
        "CSRF token": client.cookies["csrftoken"].value,
        "secret of an app that is being set up": app,
        "key of a mail confirmation": confirmation,
        "link to a new password": reset,
        "link that releases a post": releasing.rpartition("/")[2],
        "link that ends a kind of mails": unsubscribing.rpartition("/")[2],
    }


def in_last_mail(pattern: str) -> str:
    """What the pattern finds in the next mail that has it."""

    def found() -> list[str]:
        return re.findall(pattern, str(mail.outbox[-1].body)) if mail.outbox else []

    assert eventually(lambda: bool(found()))
    return found()[0]


def _of_second_factors() -> dict[str, str]:
    """A passkey has none: its row is a public key."""
    person = PersonFactory()
    app = add_app(person)
    row: Any = Authenticator.objects.get(user=person, type="recovery_codes")
    codes = enumerate(recovery_codes_of(person))
    return {
        "secret of an authenticator app": app,
        "seed of recovery codes": second_factor.decrypt(row.data["seed"]),
        **{f"recovery code {number}": code for number, code in codes},
    }


def _of_provider(provider: Provider) -> dict[str, str]:
    """Of a person who is at the provider, and of one who came back and chooses a handle."""
    back = Client()
    back.get(provider.authorize(begin(back, provider)).replace("http://testserver", ""))
    (token,) = provider.tokens
    leaving = Client()
    address = begin(leaving, provider)
    state = parse_qs(urlsplit(address).query)["state"][0]
    (stored, *_), *others = leaving.session["socialaccount_states"].values()
    assert (others, provider.authorize(address).count(state)) == ([], 1)
    return {
        "secret of the client of a provider": CLIENT_SECRET,
        "token of a provider": token,
        "state of a sign-in at a provider": state,
        "verifier of a sign-in at a provider": stored["pkce_code_verifier"],
    }
