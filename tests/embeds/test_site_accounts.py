"""POST /api/auth/site-token, and the rights of the accounts of sites."""

from __future__ import annotations

import base64
import hashlib
import hmac
import time
from datetime import timedelta
from typing import Any
from uuid import uuid4

import jwt
import orjson
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from embeds.models import SiteAccount, UsedSiteToken
from embeds.personal_data import sections
from embeds.services import update_embed
from embeds.site_accounts import keys, services
from kernel.api.exceptions import ApiError
from kernel.database.sql import database_now
from kernel.jobs.queue import run_due
from messaging.accounts.services import suspend_person
from messaging.communities.bans import ban_account
from messaging.communities.moderators import add_moderator, remove_moderator
from messaging.models import Account, Decision, Moderator, PostsChoice
from messaging.privacy.erasing import request_erasure
from tests.agents.racing import race
from tests.api import Api
from tests.embeds.making import UNKNOWN_ID, every_row
from tests.embeds.site_tokens import Site, own_community
from tests.embeds.test_analytics_races import in_threads
from tests.factories import MessageFactory, PersonFactory, SuperAdminFactory
from tests.waiting import eventually
from tests.webhooks.receiver import raw, running_receiver

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.filterwarnings("ignore:The RSA key is 1024 bits"),
]

NOW = time.time
RSA = rsa.generate_private_key(public_exponent=65537, key_size=2048)
WEAK_RSA = rsa.generate_private_key(public_exponent=65537, key_size=1024)
PEM = RSA.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


def part(value: Any) -> str:
    return base64.urlsafe_b64encode(orjson.dumps(value)).rstrip(b"=").decode()


def hs256(site: Site, key: bytes, **header: Any) -> str:
    """A token with a secret that the library refuses, such as the public key of the site."""
    signed = f"{part({'alg': 'HS256', **header})}.{part(site.claims())}"
    return (
        f"{signed}.{base64.urlsafe_b64encode(hmac.digest(key, signed.encode(), hashlib.sha256)).decode().rstrip('=')}"
    )


# What is hostile, the token, and the claim that the refusal names; None: the body is refused before (400).
HOSTILE: list[tuple[str, Any, str | None]] = [
    ("no token", lambda site: "x", "token"),
    ("three parts of nothing", lambda site: "a.b.c", "token"),
    ("claims that are a list", lambda site: f"{part({'alg': 'HS256'})}.{part([1])}.AAAA", "token"),
    ("alg none", lambda site: f"{part({'alg': 'none'})}.{part(site.claims())}.", "alg"),
    ("alg None in another case", lambda site: f"{part({'alg': 'nOnE'})}.{part(site.claims())}.", "alg"),
    ("no alg", lambda site: f"{part({'typ': 'JWT'})}.{part(site.claims())}.AAAA", "alg"),
    ("another HMAC", lambda site: site.token(key=site.secret * 2, algorithm="HS512"), "alg"),
    ("RS256 without public keys", lambda site: site.token(key=RSA, algorithm="RS256"), "alg"),
    ("HS256 signed with a public key", lambda site: hs256(site, PEM, kid="k1"), "signature"),
    ("an empty secret", lambda site: hs256(site, b""), "signature"),
    ("no signature", lambda site: site.token().rpartition(".")[0] + ".", "signature"),
    ("another secret", lambda site: site.token(key="sso_" + "A" * 43), "signature"),
    ("a critical extension", lambda site: hs256(site, site.secret.encode(), crit=["exp2"], exp2=1), "token"),
    ("another's aud", lambda site: site.token(aud=str(uuid4())), "aud"),
    ("several aud", lambda site: site.token(aud=[str(site.embed.pk), str(uuid4())]), "aud"),
    ("no aud", lambda site: site.token(aud=None), "aud"),
    ("no sub", lambda site: site.token(sub=None), "sub"),
    ("an empty sub", lambda site: site.token(sub=""), "sub"),
    ("a sub that is no text", lambda site: jwt.encode(site.claims() | {"sub": 42}, site.secret), "sub"),
    ("a sub of 256 characters", lambda site: site.token(sub="x" * 256), "sub"),
    ("a sub of 10 KB", lambda site: site.token(sub="x" * 10_240), None),
    ("a sub with NUL", lambda site: site.token(sub="4\x002"), "sub"),
    ("no name", lambda site: site.token(name=None), "name"),
    ("a name of invisible characters", lambda site: site.token(name="\u200b\u2060\u3164"), "name"),
    ("a name of blanks", lambda site: site.token(name="  \u00a0 "), "name"),
    ("a name that turns the text", lambda site: site.token(name="Ada\u202e"), "name"),
    ("a name that is no text", lambda site: site.token(name=["Ada"]), "name"),
    ("an address that is none", lambda site: site.token(email="ada"), "email"),
    ("a picture that is a script", lambda site: site.token(picture="javascript:alert(1)"), "picture"),
    ("a moderator of another community", lambda site: site.token(moderator=str(uuid4())), "moderator"),
    ("a moderator in words", lambda site: site.token(moderator="true"), "moderator"),
    ("no jti", lambda site: site.token(jti=None), "jti"),
    ("a jti of 129 characters", lambda site: site.token(jti="x" * 129), "jti"),
    ("no exp", lambda site: site.token(exp=None), "exp"),
    ("no iat", lambda site: site.token(iat=None), "iat"),
    ("expired", lambda site: site.token(iat=int(NOW()) - 200, exp=int(NOW()) - 61), "exp"),
    ("valid for more than an hour", lambda site: site.token(exp=int(NOW()) + 3_700), "exp"),
    ("valid for ever", lambda site: site.token(exp=10**400), "token"),
    ("valid for an age", lambda site: site.token(exp=10**12), "exp"),
    ("issued later", lambda site: site.token(iat=int(NOW()) + 120), "iat"),
    ("an exp that is no number", lambda site: site.token(exp="soon"), "exp"),
]


@pytest.mark.parametrize(("token", "claim"), [each[1:] for each in HOSTILE], ids=[each[0] for each in HOSTILE])
def test_a_hostile_token_signs_nobody_in(token: Any, claim: str | None) -> None:
    site = Site()
    before = Account.objects.count()
    answer = site.send(token(site))
    if claim is None:
        assert (answer.status, answer.refusal) == (400, {"error": "invalid_input", "field": "token"})
    else:
        assert (answer.status, answer.refusal) == (401, {"error": "invalid_site_token", "field": claim})
    assert (Account.objects.count(), SiteAccount.objects.count(), UsedSiteToken.objects.count()) == (before, 0, 0)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"aud": ["EMBED"]},
        {"email": None, "picture": None, "moderator": None},
        {"email": "Ada@Example.com", "picture": "https://site.example/ada.png", "moderator": False},
        # Within the minute by which clocks may differ.
        {"iat": 50},
        {"iat": -300, "exp": -30},
        {"role": "an unknown claim is ignored"},
    ],
)
def test_a_good_token_gives_a_user_token_of_a_quarter_of_an_hour(changes: Any) -> None:
    site, now = Site(), int(NOW())
    # Times are written from now on.
    made = {name: now + value if name in ("iat", "exp") else value for name, value in changes.items()}
    if "aud" in changes:
        made["aud"] = [str(site.embed.pk)]
    answer = site.send(site.token(**made))
    assert answer.status == 200, answer.json
    assert answer.headers["Cache-Control"] == "no-store"
    signed_in = answer.json
    account = site.account().account
    assert signed_in["expiresIn"] == 900
    assert signed_in["moderates"] is False
    assert signed_in["user"] == {
        "id": str(account.pk),
        "name": "Ada Lovelace",
        "handle": account.handle,
        "kind": "human",
    }
    assert account.handle.startswith("site_")
    assert not account.has_usable_password()
    assert account.site_community_id == site.community.pk


def test_the_same_sub_has_one_account_with_the_name_of_the_last_token() -> None:
    site = Site()
    first = site.sign_in(email="ada@example.com")
    bystander = site.sign_in(sub="43", name="Grace")
    again = site.sign_in(name="Ada King " + "x" * 80, email=None)
    assert again["userId"] == first["userId"] != bystander["userId"]
    assert again["user"]["name"] == f"{('Ada King ' + 'x' * 80)[:59]}…"
    assert (site.account().email, site.account("43").account.name) == ("", "Grace")


def test_a_token_is_exchanged_once_also_by_two_at_once() -> None:
    site = Site()
    token = site.token()
    answers = in_threads(*[lambda: site.send(token)] * 4)
    assert sorted(answer.status for answer in answers) == [200, 401, 401, 401]
    assert site.send(token).refusal == {"error": "site_token_used"}
    # The same jti for another embed is another token.
    other = Site(site.community)
    jti = jwt.decode(token, options={"verify_signature": False})["jti"]
    assert other.send(other.token(jti=jti)).status == 200


def test_two_tokens_of_a_new_reader_at_once_make_one_account() -> None:
    site = Site()
    tokens = [site.token() for _ in range(4)]
    answers = in_threads(*[lambda token=token: site.send(token) for token in tokens])
    assert {answer.status for answer in answers} == {200}
    assert len({answer.json["userId"] for answer in answers}) == SiteAccount.objects.count() == 1


def test_mallory_gets_into_no_account_of_another_site() -> None:
    """Neither with a secret and community of hers, nor with an embed in a community that is open to all."""
    site = Site()
    ada = site.sign_in()
    mallory = Site()
    assert mallory.sign_in()["userId"] != ada["userId"]
    # Her own secret for his embed, and her token at his embed.
    assert site.send(site.token(key=mallory.secret)).refusal["field"] == "signature"
    assert site.send(mallory.token()).refusal["field"] == "signature"
    # Her embed in his community, which is open: she does not moderate it.
    answer = mallory.api.put(mallory.path, {"communityId": str(site.community.pk)})
    assert (answer.status, answer.error) == (403, "moderator_required")
    assert mallory.api.put(mallory.path, {"signIn": "service", "communityId": str(site.community.pk)}).status == 200
    refusal = {"error": "moderator_required"}
    own = mallory.api.put(mallory.path, {"signIn": "own"})
    assert own.refusal == {**refusal, "field": "signIn"}
    assert mallory.api.post(f"{mallory.path}/site-secret").refusal == refusal
    # What was set up before she lost her rights serves no more.
    type(mallory.embed).objects.filter(pk=mallory.embed.pk).update(sign_in="own")
    assert mallory.send(mallory.token()).refusal == {"error": "site_sign_in_off"}
    # His secret.
    assert mallory.api.post(f"{site.path}/site-secret").error == "not_owner"
    assert mallory.api.delete(f"{site.path}/site-secret").error == "not_owner"
    assert site.sign_in()["userId"] == ada["userId"]


def test_the_embed_has_to_take_accounts_of_its_site() -> None:
    site = Site()
    assert Api().post("/api/auth/site-token", {"embedId": UNKNOWN_ID, "token": "x"}).error == "embed_not_found"
    for changes, refusal in [
        ({"sign_in": "both"}, None),
        ({"sign_in": "service"}, {"error": "site_sign_in_off"}),
        ({"sign_in": "own", "status": "paused"}, {"error": "embed_not_active", "status": "paused"}),
    ]:
        update_embed(embed_id=site.embed.pk, owner=site.owner, **changes)
        answer = site.send(site.token())
        assert (answer.status == 200) if refusal is None else (answer.refusal == refusal), answer.json


def test_an_account_of_a_site_writes_in_its_community_alone() -> None:
    site = Site()
    reader = site.reader()
    elsewhere, nowhere = MessageFactory(community=own_community(PersonFactory())), MessageFactory()
    post = site.write(reader)
    assert (post.status, post.json["communityId"]) == (201, str(site.community.pk))
    assert site.write(reader, parentId=post.json["id"], pageId=post.json["pageId"]).status == 201
    for other in (elsewhere, nowhere):
        refusal = {"error": "other_community", "allowed": [str(site.community.pk)]}
        body = {"pageId": other.page_id, "content": "Hello."}
        community = {} if other.community_id is None else {"communityId": str(other.community_id)}
        for answer in [
            reader.post("/api/messages", {**body, **community}),
            reader.post("/api/messages", {**body, "parentId": str(other.pk)}),
            site.write(reader, **body, parentId=str(other.pk)),
            reader.post("/v1/reactions", {"messageId": str(other.pk), "emoji": "👍"}),
            reader.post(f"/api/messages/{other.pk}/report", {"reason": "spam"}),
        ]:
            assert (answer.status, answer.refusal) == (403, refusal)
    assert reader.post("/v1/reactions", {"messageId": post.json["id"], "emoji": "👍"}).status == 200
    assert reader.delete(f"/api/messages/{post.json['id']}").status == 200


def test_an_account_of_a_site_does_what_the_panel_does_and_no_more() -> None:
    site = Site()
    reader, account = site.reader(), site.account().account
    for method, path, body in [
        ("POST", "/v1/communities", {"name": "Another"}),
        ("POST", "/v1/agent-tokens/requests", {}),
        ("GET", "/v1/agent-tokens/requests", None),
        ("POST", "/api/auth/embed-token", {}),
        ("POST", "/api/auth/panel-session", {}),
        ("GET", "/v1/webhooks", None),
    ]:
        answer = reader.send(method, path, body) if body is not None else reader.send(method, path)
        assert (answer.status, answer.error) in {(401, "invalid_token"), (403, "panel_required")}, path
    # Nobody can make it a moderator elsewhere, and its handle is no one's to choose.
    other = PersonFactory()
    with pytest.raises(ApiError) as refused:
        add_moderator(community_id=own_community(other).pk, handle=account.handle, by=other)
    assert refused.value.default_code == "person_not_found"


def test_a_suspended_account_does_not_come_back_by_another_token() -> None:
    site = Site()
    reader, account = site.reader(), site.account().account
    suspend_person(person=account, by=SuperAdminFactory())
    assert site.send(site.token()).refusal == {"error": "site_account_suspended"}
    assert site.write(reader).status == 401
    assert site.sign_in(sub="43")["userId"]


def test_an_account_of_a_site_is_exported_and_erased_by_the_operator() -> None:
    """The next token of the reader makes another account."""
    site = Site()
    site.write(site.reader(email="ada@site.example"))
    bystander = site.sign_in(sub="43")["userId"]
    account = site.account().account
    exported = {section.name: list(section.records) for section in sections(account.pk)}
    assert [row["subject"] for row in exported["site_account"]] == ["42"]
    request_erasure(person=account, posts=PostsChoice.DELETED, by=SuperAdminFactory(), wait=timedelta(days=1))
    assert site.send(site.token()).refusal == {"error": "account_being_erased"}
    request_erasure(person=account, posts=PostsChoice.DELETED, by=SuperAdminFactory(), wait=timedelta())
    assert run_due("erasures") == 1
    assert [str(row.pk) for row in SiteAccount.objects.all()] == [bystander]
    assert site.sign_in()["userId"] not in {str(account.pk), bystander}


def test_moderators_come_and_go_with_the_claim() -> None:
    site = Site()
    site.sign_in(sub="43")
    by_hand = PersonFactory()
    add_moderator(community_id=site.community.pk, handle=by_hand.handle, by=site.owner)
    assert site.sign_in(moderator=True)["moderates"] is True
    reader = site.reader(moderator=True)
    waiting = MessageFactory(community=site.community, status="pending")
    assert reader.post(f"/v1/moderation/messages/{waiting.pk}/approve", {}).status == 200
    for other in (MessageFactory(community=own_community(PersonFactory())), MessageFactory()):
        assert reader.post(f"/v1/moderation/messages/{other.pk}/hide", {}).error == "moderator_required"
    assert site.sign_in()["moderates"] is False
    assert reader.post(f"/v1/moderation/messages/{waiting.pk}/hide", {}).error == "moderator_required"
    left = set(Moderator.objects.filter(community=site.community).values_list("account", flat=True))
    assert left == {site.owner.pk, by_hand.pk}
    added = Decision.objects.filter(account=site.account().account).order_by("pk")
    assert [row.act for row in added] == ["added", "removed"]
    # The claim neither lifts a ban nor lasts longer than the rights of the owner.
    ban_account(community_id=site.community.pk, account_id=site.account().pk, by=by_hand)
    assert site.sign_in(moderator=True)["moderates"] is False
    remove_moderator(community_id=site.community.pk, account_id=site.owner.pk, by=by_hand)
    assert site.send(site.token(moderator=True)).error == "site_sign_in_off"


def test_a_secret_is_rotated_with_overlap_and_ended_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    site = Site()
    first = site.secret
    answer = site.api.post(f"{site.path}/site-secret", key="k1")
    assert answer.status == 200
    second = answer.json["secret"]
    assert answer.json["previousSecretUntil"] is not None
    assert site.api.post(f"{site.path}/site-secret", key="k1").json["secret"] == second
    third = site.api.post(f"{site.path}/site-secret").json["secret"]
    # The second one was replaced before the site could know it.
    assert [site.send(site.token(key=key)).status for key in (first, second, third)] == [200, 401, 200]
    monkeypatch.setattr(keys, "database_now", lambda: database_now() + keys.BOTH_SECRETS)
    assert [site.send(site.token(key=key)).status for key in (first, third)] == [401, 200]
    monkeypatch.undo()
    assert site.api.delete(f"{site.path}/site-secret").json == {"id": str(site.embed.pk), "deleted": True}
    assert [site.send(site.token(key=key)).status for key in (first, third)] == [401, 401]
    assert site.api.delete(f"{site.path}/site-secret").refusal == {"error": "site_secret_not_found"}


def test_a_dump_and_another_row_open_no_secret(settings: Any) -> None:
    site, other = Site(), Site()
    rows = "\n".join(every_row())
    for secret in (site.secret, other.secret):
        assert secret not in rows
        assert secret.encode().hex() not in rows
    # A row that was copied to another embed.
    row = site.embed.site_secret
    type(row).objects.filter(embed=other.embed).update(secret=row.secret)
    assert keys.secrets_of(other.embed) == []
    # A rotation of the root key.
    settings.ROOT_KEY, settings.ROOT_KEY_PREVIOUS = "another root key " * 4, settings.ROOT_KEY
    label = "site secrets under the previous key"
    assert keys.prune(now=database_now(), dry_run=True) == keys.prune(now=database_now(), dry_run=False) == {label: 1}
    settings.ROOT_KEY_PREVIOUS = ""
    assert keys.secrets_of(site.embed) == [site.secret]


def test_digests_of_expired_tokens_are_pruned() -> None:
    site = Site()
    site.sign_in()
    site.sign_in()
    UsedSiteToken.objects.filter(digest=UsedSiteToken.objects.first().digest).update(expires_at=database_now())  # type: ignore[union-attr]
    later = database_now() + services.PRUNED_AFTER
    for dry_run in (True, False):
        assert services.prune(now=later, dry_run=dry_run) == {"used site tokens": 1}
    assert UsedSiteToken.objects.count() == 1


def test_the_tester_names_all_that_is_wrong_and_uses_nothing_up() -> None:
    site = Site()
    check = f"{site.path}/site-token-check"
    token = site.token(aud="x", moderator="yes", exp=int(NOW()) - 100)
    found = site.api.post(check, {"token": token}).json
    assert (found["valid"], found["algorithm"], found["account"]) == (False, "HS256", None)
    assert found["claims"]["moderator"] == "yes"
    assert [problem["claim"] for problem in found["problems"]] == ["aud", "moderator"]
    good = site.token()
    for _ in range(2):
        found = site.api.post(check, {"token": good}).json
        assert (found["valid"], found["problems"], found["account"]) == (True, [], None)
    account = site.send(good).json["user"]
    found = site.api.post(check, {"token": good}).json
    assert [problem["claim"] for problem in found["problems"]] == ["jti"]
    assert found["account"] == account
    assert Site().api.post(check, {"token": good}).error == "not_owner"


class KeyServer:
    """A document with public keys on this machine, which the settings of the test allow."""

    def __init__(self, receiver: Any, **numbers: Any) -> None:
        self.receiver, self.url = receiver, receiver.url
        self.show(k1=RSA, **numbers)

    def show(self, **numbers: Any) -> None:
        listed = [
            orjson.loads(jwt.algorithms.RSAAlgorithm.to_jwk(key.public_key())) | {"kid": kid}
            for kid, key in numbers.items()
        ]
        body = orjson.dumps({"keys": [*listed, {"kty": "oct", "k": part("x"), "kid": "k1"}, {"kty": "?"}]})
        self.receiver.respond = raw(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)


def test_public_keys_are_read_once_and_again_for_a_new_one(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.SSO_JWKS = settings.WEBHOOKS_ALLOW_LOCAL = True
    with running_receiver() as receiver:
        server = KeyServer(receiver, weak=WEAK_RSA)
        site = Site(jwks_url=server.url)

        def status(kid: str, key: Any = RSA, algorithm: str = "RS256") -> int:
            return site.send(site.token(key=key, algorithm=algorithm, headers={"kid": kid})).status

        assert [status("k1") for _ in range(3)] == [200] * 3
        assert len(receiver.received) == 1
        assert (site.send(hs256(site, PEM, kid="k1")).status, site.send(site.token()).status) == (401, 200)
        assert (status("k1", WEAK_RSA), status("weak", WEAK_RSA), status("k2")) == (401, 401, 401)
        assert len(receiver.received) == 1
        # A new key is found when a token names it, but strangers make the service read at most twice a minute.
        monkeypatch.setattr(keys, "RETRY_SECONDS", 0)
        server.show(k2=RSA)
        assert (status("k2"), status("k1"), len(receiver.received)) == (200, 401, 3)
        # While the site does not answer, its former keys serve.
        receiver.respond = raw(b"HTTP/1.1 500 No\r\n\r\n")
        assert (status("k3"), status("k2")) == (401, 200)


def test_a_slow_address_of_keys_occupies_two_requests_and_no_other_site(settings: Any) -> None:
    settings.SSO_JWKS = settings.WEBHOOKS_ALLOW_LOCAL = True
    with running_receiver() as receiver:
        site, other, refused = Site(jwks_url=KeyServer(receiver).url), Site(), []
        respond = receiver.respond

        def respond_late(handler: Any) -> None:
            assert eventually(lambda: len(refused) == 3)
            respond(handler)

        def send(_number: int) -> int:
            answer = site.send(site.token(key=RSA, algorithm="RS256", headers={"kid": "k1"}))
            if answer.status == 429:
                refused.append(answer.error)
            return int(answer.status)

        receiver.respond = respond_late
        assert sorted(race(5, send)) == [200, 200, 429, 429, 429]
        assert refused == ["rate_limited"] * 3
        assert len(receiver.received) == 1
        assert other.send(other.token()).status == 200


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("http://keys.example/jwks", "https"),
        ("https://127.0.0.1/jwks", "local"),
        ("https://[::1]/jwks", "local"),
        ("https://169.254.169.254/latest/meta-data", "local"),
        ("https://10.0.0.8/jwks", "local"),
        ("https://[::ffff:10.0.0.8]/jwks", "local"),
        ("https://router.local/jwks", "local"),
        ("https://keys.example:22/jwks", "port"),
    ],
)
def test_an_address_of_keys_that_is_not_global_is_refused(settings: Any, url: str, said: str) -> None:
    site = Site()
    assert site.api.put(site.path, {"jwksUrl": "https://keys.example/jwks"}).refusal == {"error": "jwks_off"}
    settings.SSO_JWKS = True
    answer = site.api.put(site.path, {"jwksUrl": url})
    assert (answer.status, answer.refusal) == (400, {"error": "invalid_input", "field": "jwksUrl"})
    assert said in answer.json["message"]


def test_a_name_with_a_private_address_is_not_connected_to(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.SSO_JWKS = True
    monkeypatch.setattr("messaging.webhooks.posting.SECONDS", 0.2)
    with running_receiver() as receiver:
        looked_up = [(2, 1, 6, "", ("127.0.0.1", receiver.port))]
        monkeypatch.setattr("socket.getaddrinfo", lambda *_: looked_up)
        site = Site(jwks_url=f"https://keys.example:{receiver.port}/jwks")
        monkeypatch.setattr("socket.getaddrinfo", lambda *_arguments, **_options: looked_up)
        answer = site.send(site.token(key=RSA, algorithm="RS256"))
        assert answer.refusal == {"error": "invalid_site_token", "field": "signature"}
        assert receiver.received == []
