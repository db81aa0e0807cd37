"""Deleting a row reads the rows that may refer to it: by an index, or all of them."""

from __future__ import annotations

import pytest
from django.db import connection

from tests.plans import generic_plan, indexes

pytestmark = pytest.mark.django_db

# An index that begins with the column, and has all rows or all that have a value. The check of a foreign key compares
# one value with the column, and states no other condition.
WITHOUT_INDEX = """
SELECT referring.relname || '.' || attribute.attname
FROM pg_constraint reference
JOIN pg_class referring ON referring.oid = reference.conrelid
JOIN pg_namespace namespace ON namespace.oid = referring.relnamespace AND namespace.nspname = 'public'
JOIN pg_attribute attribute ON attribute.attrelid = referring.oid AND attribute.attnum = reference.conkey[1]
WHERE reference.contype = 'f' AND NOT EXISTS (
    SELECT FROM pg_index
    WHERE indrelid = referring.oid AND indisvalid AND indkey[0] = attribute.attnum AND (
        indpred IS NULL
        OR pg_get_expr(indpred, indrelid) = '(' || quote_ident(attribute.attname) || ' IS NOT NULL)'
    )
)
ORDER BY 1
"""
# Why each may do without.
EXCEPTIONS = {
    "embeds_embed.owner_id": "there are few embeds, and `owner_embeds` has those that are not deleted",
    "procrastinate_jobs.worker_id": "only jobs that run have a worker, and the index has those",
    "messaging_message.page_id": "`posts_by_page` serves it, by skipping over two values of its first column",
}


def test_every_foreign_key_has_an_index_that_its_check_can_use() -> None:
    with connection.cursor() as cursor:
        cursor.execute(WITHOUT_INDEX)
        found = {name for (name,) in cursor.fetchall()}
    assert found == set(EXCEPTIONS)


# As `ri_triggers.c` writes it.
CHECK_OF_PAGE = "SELECT 1 FROM ONLY messaging_message x WHERE %(page)s = page_id::text FOR KEY SHARE OF x"


def test_a_deleted_page_is_checked_by_an_index() -> None:
    with connection.cursor() as cursor:
        # The table of the test is smaller than an index.
        cursor.execute("SET LOCAL enable_seqscan = off")
    assert indexes(generic_plan(CHECK_OF_PAGE, {"page": "none"})) == {"posts_by_page"}
