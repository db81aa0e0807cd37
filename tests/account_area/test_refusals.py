"""Refusals on pages are sentences in the language of the person."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.test import Client
from django.utils import translation

import config.urls  # noqa: F401  imports every class of refusals
from account_area.refusals import SENTENCES, sentence
from config.api.exceptions import ApiError
from messaging.exceptions import EmptyMessage
from messaging.models import Account
from tests.factories import MessageFactory

# Codes that no page of the account area answers with, or that its forms have sentences of their own for.
OF_THE_API_AND_THE_ADMIN = {
    *("account_being_erased", "agent_community_not_allowed", "agent_rate_limited", "agent_route_not_allowed"),
    *("agent_scope_missing", "approval_in_use", "community_mismatch", "decision_not_undoable", "domain_not_allowed"),
    *("embed_not_active", "file_refused", "idempotency_in_progress", "idempotency_key_reused", "import_undone"),
    *("internal_error", "invalid_credentials", "invalid_emoji", "invalid_idempotency_key", "invalid_input"),
    *("invalid_payload", "invalid_second_factor", "invalid_token", "invalid_url", "job_finished", "job_not_undoable"),
    *("length_required", "not_acceptable", "not_authenticated", "own_account", "panel_required"),
    *("panel_session_ended", "parent_not_found", "quote_not_found", "recent_sign_in_required"),
    *("second_factor_required", "streams_disabled", "super_admin_required", "token_expired", "token_revoked"),
    *("too_many_emoji", "too_many_rows", "too_many_streams", "undo_too_late", "unknown_format", "unknown_page"),
    *("unsupported_content_encoding", "unsupported_media_type", "user_mismatch"),
}


def refusals(of: type[ApiError] = ApiError) -> Iterator[type[ApiError]]:
    for each in of.__subclasses__():
        yield each
        yield from refusals(each)


def test_every_code_has_a_sentence_or_is_not_of_a_page() -> None:
    codes = {each.default_code for each in refusals() if each.__module__.split(".")[0] != "tests"}
    assert codes - SENTENCES.keys() == OF_THE_API_AND_THE_ADMIN


def test_a_sentence_is_in_the_language_of_the_page() -> None:
    with translation.override("de"):
        assert sentence(EmptyMessage()) == "Ein Beitrag braucht einen Text."


@pytest.mark.django_db
def test_an_emptied_post_is_refused_in_the_language_of_the_person(client: Client, person: Account) -> None:
    post = MessageFactory(author=person)
    path = f"/account/me/posts/{post.pk}/edit/"
    page = client.post(path, {"content": " "}, headers={"Accept-Language": "fr"}).content.decode()
    assert "Un message doit contenir du texte." in page
