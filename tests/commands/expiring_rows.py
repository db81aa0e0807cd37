"""Rows that are not quite old enough to be deleted, for each function of PRUNERS."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Any

from django.contrib.sessions.models import Session
from django.test import Client
from rest_framework_simplejwt.token_blacklist.models import OutstandingToken

from account_area.models import Submission
from agents.models import AgentToken, RefusedCall
from desk.models import DailyCount as DeskCount
from desk.models import DailyTotal, Total, Trouble
from embeds.models import DailyCount, DailySalt, DailyVisitors, Sighting, UsedSiteToken
from kernel.api.ids import new_id
from kernel.changes.models import Change
from kernel.database.sql import database_now
from kernel.writes.models import RateLimitEvent, StoredResponse
from messaging.accounts.sessions import end_session, start_session
from messaging.models import (
    AccountRecord,
    BulkJob,
    Door,
    ExportStatus,
    Factor,
    JobState,
    MessageVersion,
    PanelSession,
    PersonErasure,
    PersonExport,
    PostsChoice,
    Report,
    SignIn,
)
from messaging.privacy.erasing import request_erasure
from moving.models import Move, MovePart, MoveStatus
from oauth import device_grants
from oauth.models import CodeGrant, DeviceGrant, OAuthClient, RefreshToken
from tests.agents.factories import RequestFactory, agent_with_token
from tests.factories import CommunityFactory, MessageFactory, PageFactory, PersonFactory
from tests.oauth.consents import program_let_in
from tests.panel_sessions import panel_secret

HOUR, DAY = timedelta(hours=1), timedelta(days=1)


def writes(now: datetime) -> None:
    agent_with_token().api.post("/api/messages", {"pageId": PageFactory().pk, "content": "Hi"}, key="a key")
    StoredResponse.objects.update(created_at=now - 7 * DAY + HOUR)
    RateLimitEvent.objects.update(at=now - HOUR / 2)
    end_session(refresh_token=start_session(account=PersonFactory()).refresh)
    OutstandingToken.objects.update(expires_at=now + HOUR)


def changes(now: datetime) -> None:
    assert Change.objects.update(at=now - 30 * DAY + HOUR)


def device_codes(now: datetime) -> None:
    device_grants.ask(client_name="A program", scope="account", network="")
    DeviceGrant.objects.update(expires_at=now - 30 * DAY + HOUR)


def programs(now: datetime) -> None:
    program_let_in(agent_with_token().agent)
    CodeGrant.objects.update(created_at=now - 30 * DAY + HOUR)
    RefreshToken.objects.update(expires_at=now + HOUR)
    AgentToken.objects.exclude(scopes=None).update(expires_at=now - 30 * DAY + HOUR)
    OAuthClient.objects.create(name="A program", redirect_uris=[])
    OAuthClient.objects.filter(grants=None).update(created_at=now - DAY + HOUR)


def exports(now: datetime) -> None:
    person = PersonFactory()
    PersonExport.objects.create(account=person, status="ready")
    PersonExport.objects.update(requested_at=now - 7 * DAY + HOUR)


def records(now: datetime) -> None:
    AccountRecord.objects.create(account=PersonFactory(), status="ready")
    AccountRecord.objects.update(requested_at=now - 7 * DAY + HOUR)


def jobs(now: datetime) -> None:
    BulkJob.objects.create(kind="a", label="b", total=0, state=JobState.FINISHED)
    BulkJob.objects.update(created_at=now - 90 * DAY + HOUR)


def pages(now: datetime) -> None:
    PageFactory(created_at=now - 30 * DAY + HOUR)


def panel_sessions(now: datetime) -> None:
    panel_secret(PersonFactory())
    PanelSession.objects.update(last_used_at=now - 30 * DAY + HOUR)


def reports(now: datetime) -> None:
    closed = {"reason": "spam", "closed_at": now - 180 * DAY + HOUR}
    Report.objects.create(message=MessageFactory(), reporter=PersonFactory(), **closed)


def sign_ins(now: datetime) -> None:
    SignIn.objects.create(account=PersonFactory(), network="", door=Door.API, first=Factor.PASSWORD)
    SignIn.objects.update(at=now - 90 * DAY + HOUR)


def versions(now: datetime) -> None:
    replaced = {"content": {}, "was_public": True, "replaced_at": now - 30 * DAY + HOUR}
    MessageVersion.objects.create(message=MessageFactory(), **replaced)


def refused_calls(now: datetime) -> None:
    agent = agent_with_token().account.agent
    RefusedCall.objects.create(agent=agent, day=(now - 30 * DAY).date(), code="x", calls=1)


def analytics(now: datetime) -> None:
    first_open = utc_day(now) - DAY
    oldest = first_open - 800 * DAY
    DailySalt.objects.create(day=first_open, salt=b"s" * 32)
    DailyCount.objects.create(embed_id=new_id(), day=oldest, path="/", event="e", count=1)
    DailyVisitors.objects.create(embed_id=new_id(), day=oldest, visitors=1)


def sightings(now: datetime) -> None:
    Sighting.objects.create(embed_id=new_id(), host="a.example", is_refused=False)
    Sighting.objects.update(last_seen_at=now - 30 * DAY + HOUR)


def site_tokens(now: datetime) -> None:
    expires_at = now - HOUR / 2
    UsedSiteToken.objects.create(embed_id=new_id(), digest=b"d" * 32, expires_at=expires_at)


def sessions(now: datetime) -> None:
    Client().force_login(PersonFactory())
    assert Session.objects.update(expire_date=now + HOUR)


def submissions(now: datetime) -> None:
    Submission.objects.create(key=new_id(), account=PersonFactory())
    Submission.objects.update(created_at=now - 2 * DAY + HOUR)


def desk(now: datetime) -> None:
    DeskCount.objects.create(subject_id=new_id(), kind="k", day=utc_day(now) - 100 * DAY, count=1)
    DailyTotal.objects.create(kind="k", day=utc_day(now) - 800 * DAY, name=str(new_id()), count=1)
    Trouble.objects.create(name=str(new_id()), text="b", since=now)
    Trouble.objects.update(seen_at=now - 7 * DAY + HOUR)


def uploads(now: datetime) -> None:
    """A file that waits for a decision, and the report of an import that is done, whose file went at once."""
    made: dict[str, Any] = {"format": "disqus", "file_name": "f", "size": 1}
    checked = {"status": MoveStatus.CHECKED, "has_upload": True, "digest": "d"}
    Move.objects.create(community=CommunityFactory(), **made, **checked)
    Move.objects.update(created_at=now - 7 * DAY + HOUR)
    done = {"status": MoveStatus.DONE, "has_upload": False, "digest": "e"}
    move = Move.objects.create(community=CommunityFactory(), **made, **done)
    Move.objects.filter(pk=move.pk).update(finished_at=now - 180 * DAY + HOUR)
    MovePart.objects.create(move=move, kind=MovePart.Kind.REPORT, number=0, data=b"r")


def utc_day(moment: datetime) -> date:
    return moment.astimezone(UTC).date()


def token_to_announce(now: datetime) -> Callable[[], bool]:
    token = agent_with_token().token
    AgentToken.objects.filter(pk=token.pk).update(expires_at=now + 7 * DAY + HOUR)
    return AgentToken.objects.filter(pk=token.pk, expiry_announced_at=None).exists


def jobs_of_people(now: datetime) -> Callable[[], bool]:
    """An erasure that is not due, and an export that another process makes."""
    person = PersonFactory()
    request_erasure(person=person, posts=PostsChoice.ANONYMOUS, by=person)
    PersonErasure.objects.update(due_at=now + HOUR)
    PersonExport.objects.create(account=person, leased_until=now + HOUR)
    waiting = PersonErasure.objects.filter(started_at=None, account__exports__status=ExportStatus.WAITING)
    return waiting.exists


def import_of_another_process(now: datetime) -> Callable[[], bool]:
    made: dict[str, Any] = {"status": MoveStatus.UPLOADED, "has_upload": True, "digest": "e", "size": 1}
    Move.objects.create(community=CommunityFactory(), format="disqus", file_name="f", leased_until=now + HOUR, **made)
    return Move.objects.filter(status=MoveStatus.UPLOADED, attempts=0).exists


def days_of_the_desk(_now: datetime) -> Callable[[], bool]:
    RequestFactory()
    counted = DailyTotal.objects.filter(kind=Total.REQUESTS)
    return lambda: counted.exists() and not counted.filter(day__gt=utc_day(database_now())).exists()


# By command of the housekeeping: makes rows that are not due, and returns whether these have not changed.
NOT_DUE: dict[str, Callable[[datetime], Callable[[], bool]]] = {
    "announce_expiring_tokens": token_to_announce,
    "exports": jobs_of_people,
    "records": lambda _now: lambda: True,
    "erasures": lambda _now: lambda: True,
    "imports": import_of_another_process,
    "roll_up_desk": days_of_the_desk,
}
# The other commands, and why they are not there.
NOT_BY_AGE = {
    "prune": "EXPIRING",
    "rollup_analytics": "it has a test of its own",
    "check_hosts": "without DOMAIN_CHECKS it does nothing; `tests/embeds/test_host_proofs.py` has a test",
    "desk_jobs": "it asks for no time",
    "make_partitions": "it deletes nothing, and makes partitions for three months",
}
# By function of PRUNERS: makes the rows, at a time of the database.
EXPIRING: dict[str, Callable[[datetime], None]] = {
    "kernel.writes.pruning.prune": writes,
    "messaging.privacy.exports.prune": exports,
    "messaging.privacy.exports.prune_records": records,
    "messaging.moderation.bulk_jobs.prune": jobs,
    "messaging.pages.services.prune": pages,
    "messaging.accounts.sessions.prune_panel_sessions": panel_sessions,
    "messaging.moderation.reporting.prune": reports,
    "messaging.accounts.sign_ins.prune": sign_ins,
    "messaging.posts.editing.prune": versions,
    "agents.denied_calls.prune": refused_calls,
    "embeds.analytics.rollup.prune": analytics,
    "embeds.page_loads.prune": sightings,
    "embeds.site_accounts.services.prune": site_tokens,
    "account_area.sign_in.sessions.prune": sessions,
    "account_area.submissions.prune": submissions,
    "desk.rolling.prune": desk,
    "moving.pruning.prune": uploads,
    "oauth.device_grants.prune": device_codes,
    "oauth.code_grants.prune": programs,
    # The last one: the others write changes.
    "kernel.changes.pruning.prune": changes,
}
# The other functions, which do not delete by age: the kinds of rows that they count.
OF_NO_AGE = {
    "embeds.forgetting.prune": {"deleted embeds"},
    "embeds.site_accounts.keys.prune": {"site secrets under the previous key"},
    "mails.pruning.prune": {"refused addresses that were removed"},
    "messaging.privacy.erased_handles.prune": {"keys of erased handles under the previous key"},
    "messaging.accounts.second_factor.prune": {"second factors under the previous key"},
    "messaging.accounts.sessions.prune": {"sign-in tokens in clear"},
    "messaging.webhooks.secrets.prune": {"webhook secrets under the previous key"},
}
# Kinds of rows of tables without models: `tests/embeds` tests their days.
WITHOUT_MODELS = {"analytics visitor hashes"}
