"""createPanelSession and endPanelSession: the session of a person in the panel of one site."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db.models.functions import Now

from kernel.api.jwt import AccessToken
from messaging.accounts.sessions import start_panel_session, start_session
from messaging.models import Account, PanelSession
from messaging.models.account import SESSIONS_MAX
from tests.agents.factories import agent_with_token
from tests.agents.racing import race
from tests.api import Answer, Api
from tests.commands.running import run_json
from tests.factories import PersonFactory
from tests.panel_sessions import cookie_in, panel_headers, panel_secret, secret_in

pytestmark = pytest.mark.django_db
PATH = "/api/auth/panel-session"
MONTH = 30 * 24 * 3600
DAY = timedelta(days=1)


@pytest.fixture
def ada() -> Account:
    return PersonFactory(handle="ada")


def start(api: Api, secret: str = "", **options: Any) -> Answer:
    return api.post(PATH, headers=panel_headers(secret), **options)


def end(secret: str = "") -> Answer:
    return Api().delete(PATH, headers=panel_headers(secret))


def token(secret: str) -> Answer:
    return Api().post("/api/auth/panel-token", headers=panel_headers(secret))


def access_token(account: Account, **claims: Any) -> Api:
    """The sign-in JWT of a new sign-in, with other claims; None removes one."""
    access = AccessToken(start_session(account=account).access.encode())
    for name, value in claims.items():
        if value is None:
            del access.payload[name]
        else:
            access.payload[name] = value
    return Api({"Authorization": f"Bearer {access}"})


def test_a_sign_in_opens_a_session_of_30_days_in_a_cookie_that_scripts_cannot_read(ada: Account) -> None:
    answer = start(Api.as_signed_in(ada))
    assert (answer.status, answer.json) == (200, {"success": True})
    cookie = cookie_in(answer)
    assert cookie is not None
    assert cookie[1] == MONTH
    assert answer.headers["Cache-Control"] == "no-store"
    assert token(cookie[0]).json["userId"] == str(ada.pk)
    assert PanelSession.objects.get().account == ada


def test_another_sign_in_in_the_same_browser_ends_the_session_before(ada: Account) -> None:
    before = secret_in(start(Api.as_signed_in(PersonFactory())))
    after = secret_in(start(Api.as_signed_in(ada), before))
    assert (token(before).status, token(after).status) == (401, 200)


def test_sessions_in_several_browsers_are_independent(ada: Account) -> None:
    one, other = panel_secret(ada), panel_secret(ada)
    assert end(one).status == 200
    assert (token(one).status, token(other).status) == (401, 200)


def test_a_sign_in_that_is_not_recent_opens_no_session(ada: Account) -> None:
    earlier = int((datetime.now(UTC) - timedelta(minutes=20)).timestamp())
    for auth_time in (None, earlier, "now", [], {}, 1e300, -(10**30), 10**30):
        answer = start(access_token(ada, auth_time=auth_time))
        assert (answer.status, answer.error, cookie_in(answer)) == (403, "recent_sign_in_required", None), auth_time
    assert not PanelSession.objects.exists()


def test_a_refreshed_sign_in_opens_no_session(ada: Account) -> None:
    """So a stolen refresh token does not become a session of 30 days, not even in the minutes after the sign-in."""
    session = start_session(account=ada)
    access = Api().post("/api/auth/refresh", {"refreshToken": session.refresh}).json["accessToken"]
    answers = [start(Api({"Authorization": f"Bearer {value}"})) for value in (access, session.access)]
    assert [(answer.status, answer.json.get("error")) for answer in answers] == [
        (403, "recent_sign_in_required"),
        (200, None),
    ]


def test_a_user_token_of_any_age_opens_no_session(ada: Account) -> None:
    """Neither the stolen token of a session nor an embed token extends itself."""
    issued = token(panel_secret(ada)).json
    stolen = Api({"Authorization": f"Bearer {issued['token']}", "X-User-Id": issued["userId"]})
    for api in (stolen, Api.as_person(ada)):
        assert start(api).refusal == {"error": "invalid_token"}
    assert start(agent_with_token().api).error == "agent_route_not_allowed"
    assert start(Api(), panel_secret(ada)).error == "not_authenticated", "nor does another session"


def test_the_replay_of_a_sign_in_has_no_cookie(ada: Account) -> None:
    """The stored response has no secret, and one sign-in is one session."""
    api = Api.as_signed_in(ada)
    first, replayed = start(api, key="k"), start(api, key="k")
    assert replayed.headers["Idempotent-Replayed"] == "true"
    assert (replayed.json, cookie_in(replayed)) == (first.json, None)
    assert PanelSession.objects.count() == 1


def test_of_more_than_50_sessions_the_least_recently_used_end(ada: Account) -> None:
    used = panel_secret(ada)
    unused = [panel_secret(ada) for _ in range(SESSIONS_MAX)]
    assert PanelSession.objects.count() == SESSIONS_MAX
    assert [token(secret).status for secret in (used, unused[0], unused[-1])] == [401, 200, 200]
    others = panel_secret(PersonFactory())
    PanelSession.objects.filter(account=ada).update(last_used_at=Now() - 3 * DAY)
    assert token(unused[0]).status == 200
    panel_secret(ada)
    assert [token(secret).status for secret in (unused[0], unused[1], others)] == [200, 401, 200]


@pytest.mark.django_db(transaction=True)
def test_concurrent_sign_ins_leave_at_most_50_sessions() -> None:
    ada = PersonFactory()
    for _ in range(SESSIONS_MAX - 2):
        panel_secret(ada)
    api = Api.as_signed_in(ada)
    assert {answer.status for answer in race(8, lambda _index: start(api))} == {200}
    assert PanelSession.objects.filter(account=ada).count() == SESSIONS_MAX


@pytest.mark.django_db(transaction=True)
def test_a_sign_in_that_overlaps_the_end_of_all_sessions_is_ended() -> None:
    """The session names the value that the account had when the token was checked."""
    ada = PersonFactory()
    stale = Account.objects.get(pk=ada.pk)
    Api.as_signed_in(ada).post("/api/auth/logout-all")
    secret = start_panel_session(account=stale, signed_in_at=datetime.now(UTC))
    assert token(secret).error == "panel_session_ended"


def test_signing_out_ends_the_session_and_deletes_the_cookie(ada: Account) -> None:
    secret, other = panel_secret(ada), panel_secret(PersonFactory())
    for _ in range(2):
        answer = end(secret)
        assert (answer.status, answer.json, cookie_in(answer)) == (200, {"success": True}, ("", 0))
    assert token(secret).error == "panel_session_ended"
    assert token(other).status == 200


def test_signing_out_without_a_session_succeeds(ada: Account) -> None:
    panel_secret(ada)
    for secret in ("", "x", "x" * 43, "x" * 4000, "é" * 43, "\\000" * 20, "a b; c=d", '"quoted"'):
        assert end(secret).json == {"success": True}, secret
    assert PanelSession.objects.count() == 1


def test_prune_deletes_sessions_that_were_not_used_for_30_days(ada: Account) -> None:
    secrets = [panel_secret(ada) for _ in range(2)]
    old = PanelSession.objects.order_by("pk").first()
    PanelSession.objects.update(last_used_at=Now() - 29 * DAY)
    PanelSession.objects.filter(pk=old and old.pk).update(last_used_at=Now() - 31 * DAY)
    assert run_json("prune", "--dry-run", "--json")["unused panel sessions"] == 1
    assert PanelSession.objects.count() == 2
    assert run_json("prune", "--json")["unused panel sessions"] == 1
    assert [token(secret).status for secret in secrets] == [401, 200]
    ada.delete()
    assert not PanelSession.objects.exists()
