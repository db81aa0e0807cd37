"""The steps of `test_new_message_field`, run in the scratch copy: `python -m tests.messaging.new_field_steps`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import django
from django.conf import settings
from django.core.management import call_command
from django.db import connection
from django.test.utils import setup_test_environment

from tests.temporary_cluster import TEMPLATE_DATABASE

PATH = "/api/messages"
VALUE = {"readingLevel": "easy"}


@contextmanager
def database(name: str) -> Iterator[None]:
    """A test database with the migrations of the copy."""
    # A thread would have a connection of its own to the database.
    settings.WAKEUP_SECONDS = 0
    original = connection.settings_dict["NAME"]
    connection.settings_dict["TEST"]["NAME"] = name
    if "TEMPLATE_CLUSTER" in os.environ:
        # Only the migration of the field is left to apply.
        connection.settings_dict["TEST"]["TEMPLATE"] = TEMPLATE_DATABASE
    connection.creation.create_test_db(verbosity=0, autoclobber=True, serialize=False)
    try:
        yield
    finally:
        connection.creation.destroy_test_db(original, verbosity=0)


def check_create_get_and_list() -> None:
    from messaging.models import Message
    from tests.api import Api
    from tests.factories import PageFactory, PersonFactory

    page, author = PageFactory(), Api.as_person(PersonFactory())
    without = author.post(PATH, {"pageId": page.pk, "content": "Without the field."})
    created = author.post(PATH, {"pageId": page.pk, "content": "With the field.", **VALUE})
    assert without.status == created.status == 201, (without.body, created.body)
    assert (without.json["readingLevel"], created.json["readingLevel"]) == (None, "easy")
    assert vars(Message.objects.get(pk=created.json["id"]))["reading_level"] == "easy"
    assert Api().get(f"{PATH}/{created.json['id']}").json == created.json
    for limit in (10, 100):
        assert Api().get(PATH, pageId=page.pk, limit=limit).json["messages"] == [created.json, without.json]


def check_caps_and_word_lists() -> None:
    from tests.api import Api
    from tests.factories import CommunityFactory, PageFactory, PersonFactory

    community = CommunityFactory(blocked_words=["easy"])
    body = {"pageId": PageFactory().pk, "communityId": str(community.pk), "content": "Hi"}
    author = Api.as_person(PersonFactory())
    too_long = author.post(PATH, body | {"readingLevel": "x" * 33})
    assert (too_long.status, too_long.json["field"]) == (413, "readingLevel"), too_long.body
    blocked = author.post(PATH, body | VALUE)
    assert (blocked.status, blocked.error) == (422, "content_blocked"), blocked.body


def check_description() -> None:
    from tests.openapi import document, properties_of

    operations: Any = document()["paths"][PATH]
    body = operations["post"]["requestBody"]["content"]["application/json"]["schema"]
    response = operations["post"]["responses"]["201"]["content"]["application/json"]["schema"]
    for schema in (body, response):
        assert "readingLevel" in properties_of(schema)


if __name__ == "__main__":
    django.setup()
    setup_test_environment()
    call_command("makemigrations", "messaging", name="message_reading_level", verbosity=0)
    with database("test_new_message_field"):
        check_create_get_and_list()
        check_caps_and_word_lists()
    check_description()
