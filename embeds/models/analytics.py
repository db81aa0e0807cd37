"""What is kept of the readers of an embed: counts a day, and for two days a salt.

Raw events and the visitors of open days lie in two plain tables, `embeds_event` and `embeds_visitor`
(see migration 0002), each a ring of four daily partitions: day N uses partition N mod 4, so that old ones are emptied
by TRUNCATE, at once, and no partition has to be made at midnight.

No foreign keys: counting must neither slow nor block the embeds.
"""

from __future__ import annotations

from django.db import models

EVENT_MAX = 64
PATH_MAX = 512


class DailySalt(models.Model):
    """What a day's visitor hashes are keyed with. Once it is gone, no hash of that day can be linked to anybody."""

    day = models.DateField(primary_key=True)
    salt = models.BinaryField(max_length=32)


class DailyCount(models.Model):
    """How often an event happened on a path on a day (UTC). Paths and own names over the cap of a day are `_other`."""

    pk = models.CompositePrimaryKey("embed_id", "day", "path", "event")
    embed_id = models.UUIDField()
    day = models.DateField(db_index=True)
    path = models.CharField(max_length=PATH_MAX)
    event = models.CharField(max_length=EVENT_MAX)
    count = models.PositiveBigIntegerField()


class DailyVisitors(models.Model):
    """How many different visitors a closed day had."""

    pk = models.CompositePrimaryKey("embed_id", "day")
    embed_id = models.UUIDField()
    day = models.DateField(db_index=True)
    visitors = models.PositiveBigIntegerField()
