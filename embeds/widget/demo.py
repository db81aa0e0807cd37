"""The embed of the demo page, and the origin that serves its widget."""

from __future__ import annotations

import json
from dataclasses import dataclass

from django.conf import settings

from messaging.pages.page_ids import normalize

# Two names of the local host: two origins to a browser.
OTHER_NAME = {"localhost": "127.0.0.1", "127.0.0.1": "localhost"}


@dataclass(frozen=True)
class DemoPage:
    """`app` is the origin that serves the widget, `page_url` the page that the posts of the demo belong to."""

    app: str
    embed_id: str
    page_url: str

    @property
    def feed_url(self) -> str:
        """The address of the feeds of the page, without the extension."""
        return f"{settings.BASE_URL}/feeds/pages/{normalize(self.page_url).page_id}"


def demo_page(host: str, *, secure: bool) -> DemoPage | None:
    """Return the demo for a page on `host`; None until `manage.py demo` has created it."""
    file = settings.DATA_DIR / "demo.json"
    facts = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    if "embedId" not in facts:
        return None
    return DemoPage(app=app_origin(host, secure=secure), embed_id=facts["embedId"], page_url=facts["pageUrl"])


def app_origin(host: str, *, secure: bool) -> str:
    """Return the app's origin for a page on `host`. On the local host it differs from the origin of the page."""
    origin = f"{'https' if secure else 'http'}://{host}"
    if twin(host) == host or origin != settings.APP_URL:
        return settings.APP_URL
    return origin.replace(host, twin(host))


def panel_origins() -> set[str]:
    """Return the origins of the panel: the app's, and on the local host that of its other name."""
    scheme, _, host = settings.APP_URL.partition("://")
    return {f"{scheme}://{name}" for name in (host, twin(host))}


def twin(host: str) -> str:
    """Return the other name of the local host, with the port; any other host unchanged."""
    name, _, port = host.partition(":")
    other = OTHER_NAME.get(name, name)
    return f"{other}:{port}" if port else other
