"""The whole record of an account, for an authority or an appeal."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.test import Client

from tests.admin.pages import page
from tests.agents.factories import agent_with_token
from tests.factories import MessageFactory, PersonFactory

pytestmark = pytest.mark.django_db
PATH = "/admin/record/"


def posts_in(response: Any) -> list[str]:
    archive = zipfile.ZipFile(io.BytesIO(b"".join(response.streaming_content)))
    return [post["content"] for post in json.loads(archive.read("export/posts.json"))]


@pytest.mark.parametrize("kind", ["person", "agent"])
def test_the_record_has_all_posts_and_the_history_says_who_took_it(admin_client: Client, kind: str) -> None:
    account = PersonFactory() if kind == "person" else agent_with_token().account
    MessageFactory(author=account, content="Mine.")
    MessageFactory(author=account, content="Mine, hidden.", status="hidden")
    MessageFactory(content="Another's.")
    response = admin_client.post(PATH, {"account": f"@{account.handle}", "reason": "A court asks."})
    assert sorted(posts_in(response)) == ["Mine, hidden.", "Mine."]
    assert f"record-{account.handle}-" in response.headers["Content-Disposition"]
    entry = LogEntry.objects.latest("pk")
    assert (entry.object_id, entry.change_message) == (str(account.pk), "Record exported: A court asks.")


@pytest.mark.parametrize("sent", [{"account": "nobody_here", "reason": "x"}, {"account": "x" * 99, "reason": "x"}, {}])
def test_no_record_without_an_account_and_a_reason(admin_client: Client, sent: dict[str, str]) -> None:
    before = LogEntry.objects.count()
    response = admin_client.post(PATH, sent)
    assert response.status_code == 200
    assert "errorlist" in response.content.decode()
    assert LogEntry.objects.count() == before


def test_the_page_of_an_account_leads_there(admin_client: Client) -> None:
    person = PersonFactory()
    link = f"{PATH}?account={person.handle}"
    assert link in admin_client.get(page(person)).content.decode()
    assert f'value="{person.handle}"' in admin_client.get(link).content.decode()


def test_only_super_admins_get_a_record(client: Client) -> None:
    person = PersonFactory()
    client.force_login(person)
    assert client.post(PATH, {"account": person.handle, "reason": "Curious."}).status_code == 403
