"""Analytics tables: counts per day, and the salt of each of the last two days.

Raw events and the visitors of open days are stored in two tables without models, `embeds_event` and `embeds_visitor`
(see migration 0002).

No foreign keys: their locks would let counting slow down or block changes of embeds.
"""

from __future__ import annotations

from django.db import models

EVENT_MAX = 64
PATH_MAX = 512


class DailySalt(models.Model):
    """The key of the visitor hashes of a day. After its deletion, no hash of that day can be linked to a person."""

    day = models.DateField(primary_key=True)
    salt = models.BinaryField(max_length=32)


class DailyCount(models.Model):
    """The number of an event on a path on a day (UTC). Paths and custom names beyond the daily limit are `_other`."""

    pk = models.CompositePrimaryKey("embed_id", "day", "path", "event")
    embed_id = models.UUIDField()
    day = models.DateField(db_index=True)
    path = models.CharField(max_length=PATH_MAX)
    event = models.CharField(max_length=EVENT_MAX)
    count = models.PositiveBigIntegerField()


class DailyVisitors(models.Model):
    """The number of distinct visitors of an embed on a closed day."""

    pk = models.CompositePrimaryKey("embed_id", "day")
    embed_id = models.UUIDField()
    day = models.DateField(db_index=True)
    visitors = models.PositiveBigIntegerField()
