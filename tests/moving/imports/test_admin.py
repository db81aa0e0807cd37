"""Imports in the admin: read-only, with an action that undoes one."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.contrib.admin.models import LogEntry
from django.test import Client

from messaging.models import Decision, Message
from moving.jobs import run_due_imports
from moving.models import Move
from tests.factories import CommunityFactory, SuperAdminFactory
from tests.moving.imports.generating import disqus
from tests.moving.imports.importing import import_posts

pytestmark = pytest.mark.django_db


def test_a_super_admin_undoes_an_import(tmp_path: Path) -> None:
    import_posts("disqus", disqus(tmp_path / "a.xml", posts=5), CommunityFactory(), tmp_path / "r.csv")
    move, boss, client = Move.objects.get(), SuperAdminFactory(), Client()
    client.force_login(boss)
    assert "a.xml" in client.get("/admin/moving/move/").content.decode()
    assert client.get(f"/admin/moving/move/{move.pk}/change/").status_code == 200
    path = f"/admin/moving/move/{move.pk}/undo/"
    assert "are removed" in client.get(path).content.decode()
    assert client.post(path, {"reason": "Wrong file."}).status_code == 302
    move.refresh_from_db()
    assert move.status == "undoing"
    run_due_imports()
    assert not Message.objects.exists()
    assert Decision.objects.filter(act="undone", by=boss, reason="a.xml: Wrong file.").exists()
    assert LogEntry.objects.filter(object_id=str(move.pk), user=boss, change_message="Undone: Wrong file.").exists()
