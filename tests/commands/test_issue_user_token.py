from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from messaging.models import Account, PostsChoice
from messaging.privacy.erasing import request_erasure
from tests.api import Api
from tests.commands.running import refused, run, run_json
from tests.factories import AgentAccountFactory, PersonFactory

pytestmark = pytest.mark.django_db


def test_issue_user_token_prints_only_a_valid_token() -> None:
    person = PersonFactory()
    (token,) = run("issue_user_token", person.handle).splitlines()
    api = Api({"Authorization": f"Bearer {token}", "X-User-Id": str(person.pk)})
    assert api.get("/v1/agent-tokens").status == 200


def test_json_output_contains_user_id_and_expiry() -> None:
    person = PersonFactory()
    printed = run_json("issue_user_token", person.handle, "--json")
    assert printed["userId"] == str(person.pk)
    assert printed["expiresAt"].endswith("Z"), "the time format of the API"
    left = datetime.fromisoformat(printed["expiresAt"]) - datetime.now(UTC)
    assert timedelta(hours=11, minutes=59) < left <= timedelta(hours=12)


def test_only_active_people_get_a_token() -> None:
    closed, leaving = PersonFactory(), PersonFactory()
    request_erasure(person=leaving, posts=PostsChoice.ANONYMOUS, by=leaving)
    assert "--undo" in refused("issue_user_token", leaving.handle)
    Account.objects.filter(pk=closed.pk).update(is_active=False)
    for handle in (closed.handle, AgentAccountFactory().handle, "nobody_here", ""):
        assert "create_person" in refused("issue_user_token", handle)
