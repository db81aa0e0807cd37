"""createPanelToken: the cookie of the panel opens this operation, and nothing else."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db.models.functions import Now

from kernel.api.credentials import CredentialKind
from kernel.api.operations import all_operations
from messaging.accounts.services import choose_password, suspend_person, unsuspend_person
from messaging.models import Account, PanelSession
from tests.agents.racing import race
from tests.api import Answer, Api
from tests.factories import AgentAccountFactory, PersonFactory, SuperAdminFactory
from tests.panel_sessions import cookie_in, panel_headers, panel_secret
from tests.security.world import ROWS, World

pytestmark = pytest.mark.django_db
PATH = "/api/auth/panel-token"
MONTH = 30 * 24 * 3600
# Operations of the panel, which have the guard.
GUARDED = (("POST", PATH), ("POST", "/api/auth/panel-session"), ("DELETE", "/api/auth/panel-session"))


@pytest.fixture
def ada() -> Account:
    return PersonFactory(handle="ada", name="Ada Lovelace")


def token(secret: str = "", **headers: str) -> Answer:
    return Api().post(PATH, headers=panel_headers(secret) | headers)


def aged(**ago: float) -> None:
    PanelSession.objects.update(last_used_at=Now() - timedelta(**ago))


def test_the_cookie_is_exchanged_for_a_user_token_of_15_minutes(ada: Account) -> None:
    secret = panel_secret(ada)
    answer = token(secret)
    assert (answer.status, answer.headers["Cache-Control"]) == (200, "no-store")
    record = answer.json
    assert record["user"] == {"id": str(ada.pk), "name": "Ada Lovelace", "handle": "ada", "kind": "human"}
    assert record["expiresIn"] == 15 * 60
    left = datetime.fromisoformat(record["expiresAt"]) - datetime.now(UTC)
    assert timedelta(minutes=14) < left <= timedelta(minutes=15)
    person = Api({"Authorization": f"Bearer {record['token']}", "X-User-Id": record["userId"]})
    page = person.post("/v1/presence/normalize-url", {"url": "https://a.example/"}).json["pageId"]
    assert person.post("/api/messages", {"pageId": page, "content": "Hello"}).status == 201
    refused = person.get("/api/auth/me")
    assert refused.error == "invalid_token", "it is a user token and no sign-in JWT"


def test_a_session_ends_30_days_after_its_last_use(ada: Account) -> None:
    """The use is written, and the cookie sent again, at most once a day."""
    secret = panel_secret(ada)
    assert cookie_in(token(secret)) is None
    aged(hours=23)
    assert cookie_in(token(secret)) is None
    aged(days=29, hours=23)
    assert cookie_in(token(secret)) == (secret, MONTH)
    assert PanelSession.objects.filter(last_used_at__gt=Now() - timedelta(minutes=5)).exists()
    assert cookie_in(token(secret)) is None
    aged(days=30, minutes=1)
    refused = token(secret)
    assert (refused.status, refused.error, cookie_in(refused)) == (401, "panel_session_ended", ("", 0))


@pytest.mark.parametrize("how", ["password", "logout-all", "suspension", "suspension lifted", "deletion"])
def test_a_session_ends_at_once_with_all_sessions_of_the_account(ada: Account, how: str) -> None:
    secret, issued, bystander = panel_secret(ada), token(panel_secret(ada)).json, panel_secret(PersonFactory())
    ada.refresh_from_db()
    if how == "password":
        choose_password(account=ada, password="another long passphrase")
    elif how == "logout-all":
        assert Api.as_signed_in(ada).post("/api/auth/logout-all").status == 200
    elif how == "deletion":
        ada.delete()
    else:
        boss = SuperAdminFactory()
        suspend_person(person=ada, by=boss)
        if how == "suspension lifted":
            unsuspend_person(person=ada, by=boss)
    refused = token(secret)
    assert (refused.status, refused.error, cookie_in(refused)) == (401, "panel_session_ended", ("", 0))
    person = Api({"Authorization": f"Bearer {issued['token']}", "X-User-Id": issued["userId"]})
    assert person.get("/v1/inbox").status == 401, "tokens of the session end with it"
    assert token(bystander).status == 200
    if how not in {"suspension", "deletion"}:
        assert token(panel_secret(Account.objects.get(pk=ada.pk))).status == 200


def test_only_the_active_account_of_a_person_gets_a_token(ada: Account) -> None:
    """The end of the activity need not be the end of the sessions."""
    inactive = PersonFactory()
    secrets = [panel_secret(account) for account in (inactive, AgentAccountFactory(), ada)]
    Account.objects.filter(pk=inactive.pk).update(is_active=False)
    assert [token(secret).status for secret in secrets] == [401, 401, 200]


def test_without_the_cookie_it_is_401_not_authenticated(ada: Account) -> None:
    panel_secret(ada)
    answer = token()
    assert (answer.status, answer.error, cookie_in(answer)) == (401, "not_authenticated", None)
    assert token(Authorization=Api.as_signed_in(ada).credentials["Authorization"]).error == "not_authenticated"
    assert token(Cookie="sessionid=x; __Host-panel2=y; __host-panel=z").error == "not_authenticated"


def test_an_unknown_or_malformed_cookie_is_401_and_deleted(ada: Account) -> None:
    valid = panel_secret(ada)
    for secret in ("x", "x" * 43, "x" * 42, "x" * 44, "x" * 4000, "é" * 43, "\\000" * 20, '"quoted"'):
        answer = token(secret)
        assert (answer.status, answer.error, cookie_in(answer)) == (401, "panel_session_ended", ("", 0)), secret
    assert token(valid).status == 200


def test_the_stored_digest_is_not_a_valid_cookie(ada: Account) -> None:
    secret = panel_secret(ada)
    digest = bytes(PanelSession.objects.get().digest)
    for stolen in (digest.hex(), digest.hex()[:43], secret[:-1] + ("A" if secret[-1] != "A" else "B")):
        assert token(stolen).error == "panel_session_ended"


FOREIGN = [
    *({"X-Community-Panel": value} for value in ("", "true")),
    *({"Origin": origin} for origin in ("https://evil.example", "null", "", "https://testserver.evil.example")),
    *({"Origin": origin} for origin in ("http://testserver:81", "https://testserver", "http://évil")),
]


@pytest.mark.parametrize(("method", "path"), GUARDED)
def test_requests_of_other_sites_are_refused(ada: Account, method: str, path: str, settings: Any) -> None:
    settings.APP_URL = "https://app.example"
    api = Api.as_signed_in(ada) if path != PATH else Api()
    secret = panel_secret(ada)
    for headers in FOREIGN:
        answer = api.send(method, path, headers=panel_headers(secret) | headers)
        assert (answer.status, answer.error, cookie_in(answer)) == (403, "panel_required", None), headers
    assert PanelSession.objects.count() == 1
    # A form cannot send the guard: a browser sends the header to another origin only if a preflight allows it.
    for origin in ("https://evil.example", "null", "http://testserver"):
        asked = {"Access-Control-Request-Method": method, "Access-Control-Request-Headers": "x-community-panel"}
        answer = Api().send("OPTIONS", path, headers={"Origin": origin} | asked)
        assert "x-community-panel" not in answer.headers.get("Access-Control-Allow-Headers", "").lower()
        assert answer.headers.get("Access-Control-Allow-Credentials") is None


def test_the_origin_may_be_that_of_the_request(ada: Account, settings: Any) -> None:
    """A local demo has its panel on the other name of the local host."""
    settings.APP_URL = "http://127.0.0.1:8000"
    assert token(panel_secret(ada), Origin="http://testserver").status == 200
    assert token(panel_secret(ada), Origin="http://127.0.0.1:8000").status == 200


def test_the_cookie_opens_no_other_operation(settings: Any) -> None:
    """Not with X-User-Id and the guard either: every operation that needs a credential refuses it as missing."""
    settings.WEBHOOKS = True
    public = {each.id for _path, _method, each in all_operations() if CredentialKind.PUBLIC in each.callers}
    world = World()
    headers = panel_headers(world.panel_secret) | {"X-User-Id": str(world.owner.pk)}
    private = ROWS.keys() - public
    assert len(private) > 35
    for row in sorted(private):
        call = world.call(row)
        answer = Api().send(call.method, call.path, *([] if call.body is None else [call.body]), headers=headers)
        assert (answer.status, answer.error) == (401, "not_authenticated"), row


# What the panel does for a person. Other operations of people are for tokens of a sign-in.
OF_PANEL = {
    *("createMessage", "editMessage", "deleteMessage", "reportMessage"),
    *("addReaction", "removeReaction", "listOwnReactions"),
    *("getOwnModeration", "listModerationQueue", "approveMessage", "hideMessage", "restoreMessage"),
    *("pinMessage", "unpinMessage", "banAccount", "liftBan", "hideHere", "showHere"),
    *("closeDiscussion", "reopenDiscussion"),
}


def test_its_token_opens_what_the_panel_does_and_nothing_else(settings: Any) -> None:
    settings.WEBHOOKS = True
    of_people = [each for *_route, each in all_operations() if CredentialKind.PERSON in each.callers]
    private = {each.id for each in of_people if CredentialKind.PUBLIC not in each.callers} & ROWS.keys()
    assert len(private) > 35
    assert private >= OF_PANEL
    world = World()
    # A super admin, whom no rule of a community refuses.
    record = token(panel_secret(world.boss)).json
    headers = {"Authorization": f"Bearer {record['token']}", "X-User-Id": record["userId"]}
    opened = set()
    for row in sorted(private):
        call = world.call(row)
        answer = Api().send(call.method, call.path, *([] if call.body is None else [call.body]), headers=headers)
        assert answer.status < 500
        opened |= {row} if (answer.status, answer.json.get("error")) != (401, "invalid_token") else set()
    assert opened == OF_PANEL


def test_its_token_opens_no_tool_for_models(ada: Account) -> None:
    record = token(panel_secret(ada)).json
    headers = {"Authorization": f"Bearer {record['token']}", "X-User-Id": record["userId"]}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "inbox", "arguments": {}}}
    answer = Api().post("/mcp", call, headers=headers | {"Accept": "application/json, text/event-stream"})
    assert "this one is for what the panel does" in answer.body.decode()


def test_the_cookie_opens_no_page_of_the_admin(ada: Account) -> None:
    secret = panel_secret(SuperAdminFactory())
    for path in ("/admin/", "/admin/messaging/account/"):
        answer = Api().get(path, headers=panel_headers(secret))
        assert answer.status == 302
        assert "login" in answer.headers["Location"]


def test_panel_tokens_are_throttled_per_address(ada: Account, settings: Any) -> None:
    settings.SOFT_THROTTLES = settings.SOFT_THROTTLES | {"session": (3, 60)}
    secret = panel_secret(ada)
    assert [token(secret).status for _ in range(4)] == [200, 200, 200, 429]


@pytest.mark.django_db(transaction=True)
def test_tabs_that_ask_at_the_same_time_all_get_a_token_and_one_renews_the_cookie() -> None:
    secret = panel_secret(PersonFactory())
    aged(days=2)
    answers = race(8, lambda _index: token(secret))
    assert {answer.status for answer in answers} == {200}
    assert sum(cookie_in(answer) is not None for answer in answers) == 1
