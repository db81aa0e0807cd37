"""Every column that names an account is exported and erased, or has a reason why not."""

from __future__ import annotations

import re
from typing import Any
from uuid import UUID

import pytest
from django.apps import apps
from django.conf import settings
from django.db import models
from django.utils.module_loading import import_string

from messaging.models import Account
from tests.agents.factories import agent_with_token

# Names of columns without a foreign key that contain the id of an account.
NAMES = ("account_id", "actor_id", "author_id", "owner_id", "operator_id", "user_id", "reporter_id", "requester_id")
NAMES += ("subject_id",)
# Column: the section of the export that has its rows.
EXPORTED = {
    "messaging.Message.author": "posts",
    "messaging.Report.reporter": "reports",
    "messaging.Webhook.owner": "webhooks",
    "messaging.PanelSession.account": "panel_sessions",
    "messaging.PersonExport.account": "exports",
    "messaging.SignIn.account": "sign_ins",
    "reactions.Reaction.account": "reactions",
    "agents.Agent.operator": "agents",
    "agents.AgentRequest.requester": "agent_requests",
    "agents.AgentToken.created_by": "agent_tokens",
    "embeds.Embed.owner": "embeds",
    "embeds.SiteAccount.account": "site_account",
    "changes.Change.account_id": "inbox",
    "account.EmailAddress.user": "mail_addresses",
    "account_area.AccountSession.account": "sessions",
    "desk.DailyCount.subject_id": "daily_counts",
    "mails.Mailing.account": "mails",
    "mails.RefusedAddress.account": "refused_addresses",
    "mfa.Authenticator.user": "second_factors",
    "moving.ImportedAuthor.account": "imported_authors",
    "moving.Move.started_by": "imports",
    "oauth.DeviceGrant.person": "device_codes",
    "oauth.CodeGrant.person": "oauth_consents",
    "messaging.Ban.account": "bans",
    "messaging.Community.created_by": "communities",
    "messaging.Decision.by": "decisions",
    "messaging.Moderator.account": "moderated",
    "socialaccount.SocialAccount.user": "providers",
}
# Column: why its rows are not in an export.
NOT_EXPORTED = {
    "admin.LogEntry.user": "decisions about others, as a super admin",
    "agents.Agent.account": "part of the section `agents`",
    "agents.Agent.frozen_by": "a decision about others",
    "agents.AgentRequest.decided_by": "a decision about others",
    "agents.AgentToken.revoked_by": "a decision, beside the token",
    "messaging.Account.groups": "unused",
    "messaging.Account.user_permissions": "unused",
    "messaging.PersonErasure.account": "ends with the account",
    "account_area.Submission.account": "a key without content, for two days",
    "token_blacklist.OutstandingToken.user": "an id of a token, until it expires",
    "changes.Change.actor_id": "events of others",
    "changes.ReadPosition.account_id": "a position in the inbox",
    "api.RateLimitEvent.account_id": "counts of the last hour",
    "mails.Notice.actor_id": "mails for others",
    "messaging.AccountRecord.account": "made for others",
    "messaging.AccountRecord.by": "the record of another account",
    "messaging.BulkJob.about": "a decision of others",
    "messaging.BulkJob.by": "a decision about others",
    "messaging.Decision.account": "decisions of others",
    "messaging.SavedList.account": "an address of a list of the admin, which ends with the account",
    "desk.Top.subject_id": "a sum of the section `daily_counts`",
}


def columns() -> dict[str, Any]:
    """Foreign keys to an account, and columns that are named like one."""
    found = {}
    for model in apps.get_models():
        for field in model._meta.get_fields():
            is_key = isinstance(field, models.ForeignKey) and field.remote_field.model is Account
            is_named = isinstance(field, models.UUIDField) and field.name in NAMES
            is_many = isinstance(field, models.ManyToManyField) and model is Account
            if is_key or is_named or is_many:
                found[f"{model._meta.label}.{field.name}"] = field
    return found


def test_every_column_that_names_an_account_is_exported_or_has_a_reason() -> None:
    assert set(columns()) == set(EXPORTED) | set(NOT_EXPORTED)
    assert not set(EXPORTED) & set(NOT_EXPORTED)


@pytest.mark.django_db
def test_the_named_sections_exist_once() -> None:
    person: UUID = agent_with_token().request.requester_id
    paths = settings.PERSON_EXPORTERS
    names = [section.name for path in paths for section in import_string(path)(person)]
    assert set(EXPORTED.values()) <= set(names)
    assert len(set(names)) == len(names)


# How the rows of a column are erased where deleting the account does not (`CASCADE`, `SET_NULL`).
ERASED = {
    "admin.LogEntry.user": "kernel.admin",
    "agents.Agent.account": "agents",
    "agents.Agent.operator": "agents",
    "agents.Agent.frozen_by": "agents",
    "agents.AgentRequest.decided_by": "agents",
    "agents.AgentRequest.requester": "agents",
    "agents.AgentToken.created_by": "agents",
    "agents.AgentToken.revoked_by": "agents",
    "api.RateLimitEvent.account_id": "kernel.writes",
    "changes.Change.account_id": "kernel.changes",
    "mails.Notice.actor_id": "mails",
    "changes.ReadPosition.account_id": "kernel.changes",
    "desk.DailyCount.subject_id": "desk",
    "desk.Top.subject_id": "desk",
    "embeds.Embed.owner": "embeds",
    "messaging.Message.author": "messaging",
    "messaging.Webhook.owner": "messaging",
    "reactions.Reaction.account": "reactions",
    "token_blacklist.OutstandingToken.user": "messaging",
}
# An id without an account, until the row is pruned (see docs/privacy.md).
LEFT = {"changes.Change.actor_id"}


def test_every_column_is_erased_by_a_function_or_with_the_account() -> None:
    with_account = {
        name
        for name, field in columns().items()
        if isinstance(field, models.ManyToManyField)
        or getattr(field.remote_field, "on_delete", None) in (models.CASCADE, models.SET_NULL)
    }
    assert set(columns()) - with_account <= set(ERASED) | LEFT
    erasers = {re.split(r"\.(?:personal_data|privacy)", path)[0] for path in settings.PERSON_ERASERS}
    assert set(ERASED.values()) <= erasers
