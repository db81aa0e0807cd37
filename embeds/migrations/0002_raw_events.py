"""The two tables that only SQL touches: raw events, and the visitors of open days.

Each is a ring of four daily partitions; day N lies in partition N mod 4 (`slot`). Old partitions are emptied by
TRUNCATE, so dropping a day takes no time, and no partition has to be made while events come in.
"""

from __future__ import annotations

from django.db import migrations

SLOTS = 4

EVENTS = """
CREATE TABLE embeds_event (
    slot smallint NOT NULL,
    day date NOT NULL,
    embed_id uuid NOT NULL,
    event varchar(64) NOT NULL,
    path varchar(512) NOT NULL,
    visitor bytea NOT NULL
) PARTITION BY LIST (slot);
CREATE INDEX embeds_event_embed ON embeds_event (embed_id, day);
"""
VISITORS = """
CREATE TABLE embeds_visitor (
    slot smallint NOT NULL,
    day date NOT NULL,
    embed_id uuid NOT NULL,
    visitor bytea NOT NULL,
    PRIMARY KEY (embed_id, day, visitor, slot)
) PARTITION BY LIST (slot);
"""


def partitions(table: str) -> str:
    return "".join(f"CREATE TABLE {table}_{n} PARTITION OF {table} FOR VALUES IN ({n});" for n in range(SLOTS))


class Migration(migrations.Migration):
    dependencies = [("embeds", "0001_initial")]

    operations = [
        migrations.RunSQL(EVENTS + partitions("embeds_event"), "DROP TABLE embeds_event"),
        migrations.RunSQL(VISITORS + partitions("embeds_visitor"), "DROP TABLE embeds_visitor"),
    ]
