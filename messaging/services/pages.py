from __future__ import annotations

from config.api.sql import execute
from messaging.errors import InvalidUrlError
from messaging.page_ids import InvalidUrl, NormalizedUrl, normalize

RECORD = """
INSERT INTO messaging_page (id, normalized_url, created_at)
SELECT %(id)s::text, %(url)s, clock_timestamp() WHERE NOT EXISTS (SELECT FROM messaging_page WHERE id = %(id)s::text)
ON CONFLICT DO NOTHING
"""


def normalize_url(*, url: str) -> NormalizedUrl:
    """The page a URL stands for, recorded so that posts may name it; raises InvalidUrlError (400). Fetches nothing."""
    try:
        page = normalize(url)
    except InvalidUrl as failure:
        raise InvalidUrlError(field="url", details=str(failure)) from None
    execute(RECORD, {"id": page.page_id, "url": page.normalized_url})
    return page
