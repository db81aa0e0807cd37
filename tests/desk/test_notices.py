"""Notices: what waits, mails of reports and troubles, and the choice of super admins."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connections
from django.test import Client

from desk.health import PATIENCE, Check, checks, record, watch
from desk.models import Trouble
from kernel.changes.models import Change
from kernel.database.sql import database_now
from mails.kinds import Frequency, Kind
from mails.preferences import preferences_of, set_preferences, unsubscribe
from messaging.inbox.events import ServiceEvent
from messaging.models import Account
from tests.agents.factories import RequestFactory
from tests.factories import CommunityFactory, MessageFactory, PersonFactory, SuperAdminFactory
from tests.mails.conftest import mail_server
from tests.mails.making import begin, make_due, reachable, report, send_all
from tests.mails.server import MailServer

__all__ = ["mail_server"]
pytestmark = pytest.mark.django_db(transaction=True)
AWAY = Check("redis here", "Redis", "away", "Redis does not answer on here")
WELL = Check("redis here", "Redis", "answers")


def events() -> list[str]:
    types = [ServiceEvent.TROUBLE_BEGAN.value, ServiceEvent.TROUBLE_ENDED.value]
    return list(Change.objects.filter(type__in=types).order_by("id").values_list("type", flat=True))


def test_a_trouble_is_told_once_after_some_minutes_and_so_is_its_end() -> None:
    now = database_now()
    record([AWAY], now=now)
    assert events() == []
    for minutes in (2, 3, 60):
        record([AWAY], now=now + timedelta(minutes=minutes))
    assert events() == ["trouble_began"]
    assert Trouble.objects.get().since == now
    record([WELL], now=now + timedelta(minutes=61))
    record([WELL], now=now + timedelta(minutes=62))
    assert events() == ["trouble_began", "trouble_ended"]
    assert not Trouble.objects.exists()


def test_a_trouble_that_ends_at_once_is_not_told() -> None:
    now = database_now()
    record([AWAY], now=now)
    record([WELL], now=now + timedelta(seconds=30))
    assert events() == []


def test_several_hosts_tell_a_trouble_once() -> None:
    now = database_now()
    late = Check("housekeeping", "Housekeeping", "late", "Housekeeping does not run", at=now - timedelta(hours=5))

    def see() -> None:
        record([late], now=now)
        connections.close_all()

    with ThreadPoolExecutor(4) as pool:
        for future in [pool.submit(see) for _ in range(8)]:
            future.result()
    assert events() == ["trouble_began"]
    assert Trouble.objects.get().since == late.at


def test_the_checks_of_this_host_are_watched() -> None:
    watch()
    assert [trouble.text.split(" on ")[0] for trouble in Trouble.objects.all()] == [
        "The stream process does not answer"
    ]


def test_a_host_without_a_data_folder_has_no_disk_to_check(settings: Any, tmp_path: Path) -> None:
    assert "Disk" in {check.label for check in checks()}
    settings.DATA_DIR = tmp_path / "not made"
    assert "Disk" not in {check.label for check in checks()}


def test_a_mail_says_what_is_wrong_and_since_when(mail_server: MailServer) -> None:
    begin()
    reachable(SuperAdminFactory())
    reachable(PersonFactory())
    since = database_now() - PATIENCE
    record([AWAY], now=since)
    record([AWAY], now=since + PATIENCE)
    send_all()
    (mail,) = mail_server.mails
    assert mail["Subject"].startswith("Redis does not answer on here, since ")
    assert f"{since:%H:%M} UTC" in mail["Subject"]
    record([WELL], now=since + PATIENCE)
    send_all()
    assert mail_server.mails[1]["Subject"].startswith("Over: Redis does not answer on here (since ")
    assert mail_server.mails[0]["Message-ID"] != mail_server.mails[1]["Message-ID"]


def test_reports_of_every_community_are_mailed_to_super_admins_who_ask_for_it(mail_server: MailServer) -> None:
    begin()
    admin, other = (reachable(SuperAdminFactory()) for _ in range(2))
    set_preferences(account_id=admin.pk, frequencies={Kind.REPORT: Frequency.DAILY})
    community = CommunityFactory()
    community.moderators.create(account=PersonFactory())
    report(str(MessageFactory(community=community).pk))
    assert send_all() == []
    make_due()
    send_all()
    (mail,) = mail_server.mails
    assert (mail["Subject"], mail["To"]) == ("1 reported post", f"{admin.handle}@mail.example")
    assert preferences_of(other)[Kind.REPORT] is Frequency.OFF


def test_troubles_arrive_once_a_day_or_never_by_choice(mail_server: MailServer) -> None:
    begin()
    daily = reachable(SuperAdminFactory(), health=Frequency.DAILY)
    reachable(SuperAdminFactory(), health=Frequency.OFF)
    since = database_now() - PATIENCE
    disk = Check("disk here", "Disk", "1 GB free", "The disk of here is almost full")
    for now in (since, since + PATIENCE):
        record([AWAY, disk], now=now)
    record([WELL], now=since + PATIENCE)
    assert send_all() == []
    make_due()
    send_all()
    (mail,) = mail_server.mails
    assert mail["To"] == f"{daily.handle}@mail.example"
    text = mail.get_body(("plain",)).get_content()
    sentences = ("Redis does not answer on here, since ", "The disk of here is almost full, since ", "Over: Redis ")
    assert [text.count(sentence) for sentence in sentences] == [1, 1, 1]
    make_due()
    assert send_all() == []


def test_a_super_admin_chooses_which_mails_arrive(admin_client: Client, boss: Account) -> None:
    sent = {"request": "daily", "report": "at_once", "health": "off"}
    assert admin_client.post("/admin/notices/", sent).status_code == 302
    chosen = preferences_of(boss)
    assert {kind.value: str(chosen[kind]) for kind in (Kind.REQUEST, Kind.REPORT, Kind.HEALTH)} == sent
    unsubscribe(account_id=boss.pk, kind=Kind.REPORT)
    assert preferences_of(boss)[Kind.REPORT] is Frequency.OFF


def test_a_form_that_was_opened_before_changes_only_what_was_chosen_in_it(admin_client: Client, boss: Account) -> None:
    page = admin_client.get("/admin/notices/").content.decode()
    opened = dict(re.findall(r'<input type="hidden" name="(initial-\w+)" value="(\w+)"', page))
    assert len(opened) == 3
    set_preferences(account_id=boss.pk, frequencies={Kind.REPORT: Frequency.DAILY})
    sent = {"request": "off", "report": opened["initial-report"], "health": opened["initial-health"]}
    admin_client.post("/admin/notices/", opened | sent)
    chosen = preferences_of(boss)
    assert (chosen[Kind.REQUEST], chosen[Kind.REPORT]) == (Frequency.OFF, Frequency.DAILY)


def test_a_choice_that_does_not_exist_changes_nothing(admin_client: Client, boss: Account) -> None:
    before = preferences_of(boss)
    for sent in ({}, {"request": "hourly"}, {"request": "off", "report": "off", "health": "\0"}):
        assert admin_client.post("/admin/notices/", sent).status_code in {200, 400}, sent
        assert preferences_of(boss) == before


def test_what_waits_is_counted_for_the_title(admin_client: Client, client: Client) -> None:
    RequestFactory()
    MessageFactory(status="pending")
    response = admin_client.get("/admin/waiting/")
    assert response.json()["total"] == "2"
    assert {one["label"]: one["count"] for one in response.json()["waiting"]}["agent requests"] == "1"
    assert "no-store" in response.headers["Cache-Control"]
    assert client.get("/admin/waiting/").status_code == 302
    client.force_login(PersonFactory())
    assert client.get("/admin/waiting/").status_code == 403
