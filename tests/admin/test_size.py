"""The admin with 500 requests and agents and 5,000 messages runs as many queries as with a few rows."""

from __future__ import annotations

from math import ceil
from uuid import uuid4

import pytest
from django.contrib import admin
from django.contrib.contenttypes.models import ContentType
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from agents.models import Agent, AgentRequest
from kernel.admin.changelists import BATCH
from messaging.models import Account, BulkJob, Message
from messaging.moderation.bulk_jobs import start_job
from tests.admin.many_posts import insert_posts
from tests.admin.pages import page
from tests.agents.factories import RequestFactory, agent_with_token
from tests.embeds.making import an_embed
from tests.factories import CommunityFactory, MessageFactory

pytestmark = pytest.mark.django_db

# The rows refer to one operator, page and community, which the factories created.
LOAD = """
SET LOCAL session_replication_role = replica;
INSERT INTO messaging_account (id, handle, name, kind, password, is_active, is_staff, is_superuser, created_at)
    SELECT lpad(to_hex(n), 32, '0')::uuid, 'many_' || n, 'Many', 'agent', '!', true, false, false,
        now() - n * interval '1 minute'
    FROM generate_series(1, 500) n;
INSERT INTO messaging_handleclaim (handle, claimed_at) SELECT 'many_' || n, now() FROM generate_series(1, 500) n;
INSERT INTO agents_agent (account_id, operator_id, scopes, community_ids, freeze_reason, created_at)
    SELECT lpad(to_hex(n), 32, '0')::uuid, %(operator)s, '{post}', '{}', '', now() - n * interval '1 minute'
    FROM generate_series(1, 500) n;
INSERT INTO agents_agenttoken
    (id, agent_id, digest, prefix, label, created_at, created_by_id, expires_at, revoke_reason)
    SELECT lpad(to_hex(n), 32, '0')::uuid, lpad(to_hex(n %% 500 + 1), 32, '0')::uuid,
        sha256(n::text::bytea), 'cag_many', '',
        now(), %(operator)s, now() + interval '1 day', ''
    FROM generate_series(1, 1000) n;
INSERT INTO agents_agentrequest
    (id, requester_id, agent_name, agent_handle, purpose, website, scopes, community_ids, status, decided_by_id,
     decided_at, reason, created_at)
    SELECT lpad(to_hex(n), 32, '0')::uuid, %(operator)s, 'Many', 'asked_' || n, 'Purpose', '', '{post}', '{}',
        CASE WHEN n %% 2 = 0 THEN 'pending' ELSE 'rejected' END, CASE WHEN n %% 2 = 1 THEN %(operator)s::uuid END,
        CASE WHEN n %% 2 = 1 THEN now() END, '', now() - n * interval '1 minute'
    FROM generate_series(1, 500) n;
INSERT INTO django_admin_log
    (action_time, user_id, content_type_id, object_id, object_repr, action_flag, change_message)
    SELECT now(), %(operator)s, (SELECT min(id) FROM django_content_type), n::text, 'Row', 2, 'Hidden.'
    FROM generate_series(1, 500) n;
SET LOCAL session_replication_role = DEFAULT;
ANALYZE messaging_account, messaging_handleclaim, agents_agent, agents_agenttoken,
    agents_agentrequest, django_admin_log;
"""
AUTHOR = "lpad(to_hex(n %% 500 + 1), 32, '0')::uuid"
STATUS = "CASE WHEN n %% 100 = 0 THEN 'pending' WHEN n %% 100 = 1 THEN 'hidden' ELSE 'published' END"


def lists() -> list[str]:
    plain = [page(model, "changelist") for model in admin.site._registry]
    requests, messages = page(AgentRequest, "changelist"), page(Message, "changelist")
    agents, tokens = page(Agent, "changelist"), "/admin/agents/agenttoken/"
    return [
        *("/admin/", *plain),
        *(f"{requests}?status__exact=pending", f"{requests}?q=asked_77", f"{requests}?p=5", f"{requests}?o=3"),
        *(f"{messages}?status__exact=pending", f"{messages}?status__exact=hidden", f"{messages}?p=100"),
        *(f"{messages}?q=number", f"{messages}?q=@many_7", f"{messages}?author_kind__exact=human", f"{messages}?o=-2"),
        *("/admin/messaging/bulkjob/?q=many", "/admin/search/?q=many", "/admin/waiting/"),
        *(f"{agents}?state=frozen", f"{agents}?q=many_99", f"{tokens}?state=active", f"{tokens}?q=many"),
    ]


def exports() -> list[str]:
    requests, messages = page(AgentRequest, "changelist"), page(Message, "changelist")
    return [f"{requests}csv/?status__exact=pending", f"{messages}csv/?status__exact=hidden"]


def queries_of(admin_client: Client, path: str) -> int:
    """The number of queries of a page; of an export without those of its rows."""
    with CaptureQueriesContext(connection) as queries:
        response = admin_client.get(path)
        assert response.status_code == 200, path
        lines = list(response.streaming_content) if response.streaming else []  # type: ignore[attr-defined]
    # An export reads its rows in batches, the last of which is empty.
    batches = ceil((len(lines) - 1) / BATCH) + 1 if lines else 0
    return len(queries) - batches


def actions() -> list[str]:
    """The confirmation page of each action, for a row of its list."""
    return [
        page(row, action.name)
        for model, rows in admin.site._registry.items()
        for row in model.objects.all()[:1]
        for action in rows.row_actions
    ]


@pytest.mark.slow
def test_number_of_queries_does_not_depend_on_the_number_of_rows(
    admin_client: Client, boss: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    holder = agent_with_token(agent_handle="many_first")
    RequestFactory(requester=holder.request.requester, community_ids=[CommunityFactory(name="Many").pk])
    community, message = CommunityFactory(), MessageFactory(author=holder.agent.account)
    job = start_job(kind="agents.agentrequest:reject", label="Reject", ids=[holder.request.pk], by=boss)
    rows = (holder.request, holder.agent, holder.token, message, community, an_embed(), boss, job)
    pages = [*lists(), *exports(), *map(page, rows), *actions()]
    ContentType.objects.get_for_models(*admin.site._registry)
    few = {path: queries_of(admin_client, path) for path in pages}
    # A search of posts has most: filters are counted, reasons offered, and settings of the planner changed.
    assert max(few.values()) <= 26
    values = {"operator": holder.request.requester_id}
    insert_posts(5_000, beside=message, author_id=AUTHOR, community_id=f"'{community.pk}'::uuid", status=STATUS)
    with connection.cursor() as cursor:
        for statement in LOAD.split(";\n")[:-1]:
            cursor.execute(statement, values)
    BulkJob.objects.update(ids=[uuid4() for _ in range(500)], total=500)
    # Less than there are.
    monkeypatch.setattr("kernel.admin.changelists.COUNTED_MAX", 100)
    assert {path: queries_of(admin_client, path) for path in pages} == few


def test_lists_use_the_bounded_paginator(admin_client: Client) -> None:
    """Django's paginator and full result count would each scan the whole table."""
    for rows in admin.site._registry.values():
        assert rows.show_full_result_count is False
        assert rows.paginator.__name__ == "BoundedCountPaginator"


def test_queue_count_is_bounded(admin_client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kernel.admin.changelists.COUNTED_MAX", 2)
    MessageFactory.create_batch(3, status="pending")
    assert "<strong>2+</strong>" in admin_client.get("/admin/").content.decode()
    assert admin_client.get(page(Message, "changelist")).context["cl"].result_count == 3
