"""Deleting a row reads the rows that may refer to it: by an index, or all of them."""

from __future__ import annotations

import pytest
from django.db import connection

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
    "messaging_message.page_id": "PostgreSQL would list the posts of a page by such an index, and read its replies too",
}


def test_every_foreign_key_has_an_index_that_its_check_can_use() -> None:
    with connection.cursor() as cursor:
        cursor.execute(WITHOUT_INDEX)
        found = {name for (name,) in cursor.fetchall()}
    assert found == set(EXCEPTIONS)
