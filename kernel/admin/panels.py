"""What the page of a row shows beside the row, from apps that this package does not know."""

from __future__ import annotations

from django.conf import settings
from django.db.models import Model
from django.utils.module_loading import import_string
from django.utils.safestring import SafeString


def panels_of(row: Model) -> list[SafeString]:
    """Those of the setting ADMIN_PANELS that are not empty for the row."""
    return [html for path in settings.ADMIN_PANELS if (html := import_string(path)(row))]
