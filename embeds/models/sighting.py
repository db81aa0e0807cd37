from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from embeds.models.analytics import PATH_MAX
from embeds.models.embed import DOMAIN_MAX


class Sighting(models.Model):
    """A host whose pages asked for the configuration of an embed: that the widget is on the site, and where.

    No foreign key, as for analytics. `path` is that of the last event with one; of a request for the configuration,
    browsers tell only the host. `null` is the host of a page without one, such as a local file.
    """

    pk = models.CompositePrimaryKey("embed_id", "host")
    embed_id = models.UUIDField()
    host = models.CharField(max_length=DOMAIN_MAX)
    # Whether the domain lists refused the last request.
    is_refused = models.BooleanField()
    # Whether every visit came over http. Null: not known, of a row of an earlier release.
    is_plain = models.BooleanField(null=True)
    path = models.CharField(max_length=PATH_MAX, default="", db_default="")
    first_seen_at = models.DateTimeField(db_default=Now())
    last_seen_at = models.DateTimeField(db_default=Now(), db_index=True)

    class Meta:
        indexes = [
            # The embeds that were loaded on a host, in the order of `embeds.page_communities`.
            models.Index("host", "first_seen_at", condition=Q(is_refused=False), name="sightings_by_host")
        ]
