"""The counts beside the filters by status: each choice has one, and none reads the whole table."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils.html import strip_tags

from agents.models import AgentRequest
from config.admin import paginator
from messaging.models import Account, Message, MessageStatus
from tests.admin.pages import read
from tests.factories import MessageFactory
from tests.plans import indexes, nodes, plan_of, rows_read

pytestmark = pytest.mark.django_db
ROWS = 20_000
# A post in a thousand is hidden, deleted or pending.
MANY = """
INSERT INTO messaging_message
    (id, page_id, author_id, author_kind, status, content, attachments, reply_count, quote_count, reaction_counts,
     reaction_total, created_at, updated_at)
SELECT lpad(to_hex(n), 32, '0')::uuid, %(page)s, %(author)s, 'human',
    CASE n %% 1000 WHEN 0 THEN 'hidden' WHEN 1 THEN 'deleted' WHEN 2 THEN 'pending' ELSE 'published' END,
    'Post', '[]', 0, 0, '{}', 0, now(), now()
FROM generate_series(1, %(rows)s) n
"""


def test_each_status_has_a_bounded_count(admin_client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paginator, "COUNTED_MAX", 2)
    for status, count in (("published", 3), ("pending", 2), ("hidden", 1)):
        MessageFactory.create_batch(count, status=status)
    shown = strip_tags(read(admin_client, Message, "changelist"))
    assert all(text in shown for text in ("Published (2+)", "Pending (2)", "Hidden (1)", "Deleted (0)"))


def test_no_count_reads_the_whole_table(boss: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rare statuses are found by an index; the count of the frequent one ends at its bound."""
    monkeypatch.setattr(paginator, "COUNTED_MAX", 100)
    post = MessageFactory()
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute(MANY, {"page": post.page_id, "author": post.author_id, "rows": ROWS})
        cursor.execute("SET LOCAL session_replication_role = DEFAULT")
        cursor.execute("ANALYZE messaging_message")
    for status in MessageStatus:
        with CaptureQueriesContext(connection) as captured:
            paginator.bounded_count(Message.objects.filter(status=status))
        plan = plan_of(captured[0]["sql"])
        assert rows_read(plan, "messaging_message") < ROWS / 50, (status, plan)
        is_rare = status != MessageStatus.PUBLISHED
        assert bool({"rare_statuses", "moderation_queue", "community_queue"} & indexes(plan)) == is_rare, [*nodes(plan)]


@pytest.mark.slow
def test_the_counts_of_requests_use_the_index_of_their_status(boss: Account) -> None:
    decided = {"status": "rejected", "decided_by": boss, "decided_at": boss.created_at}
    fields = {"requester": boss, "agent_name": "Many", "purpose": "x", "scopes": ["post"]}
    AgentRequest.objects.bulk_create(
        AgentRequest(agent_handle=f"many_{n}", **fields, **(decided if n % 100 else {})) for n in range(5_000)
    )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE agents_agentrequest")
    with CaptureQueriesContext(connection) as captured:
        assert paginator.bounded_count(AgentRequest.objects.filter(status="pending")) == "50"
    plan = plan_of(captured[0]["sql"])
    assert rows_read(plan, "agents_agentrequest") <= 50, plan
