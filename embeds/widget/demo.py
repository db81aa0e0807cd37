"""The demo page: what it embeds, and from where."""

from __future__ import annotations

import json
from dataclasses import dataclass

from django.conf import settings

# Two names of this machine, and two origins to a browser.
OTHER_NAME = {"localhost": "127.0.0.1", "127.0.0.1": "localhost"}


@dataclass(frozen=True)
class DemoPage:
    """`app` is the origin that the widget comes from, `page_url` the address that the demo's posts belong to."""

    app: str
    embed_id: str
    page_url: str


def demo_page(host: str, *, secure: bool) -> DemoPage | None:
    """The demo for a page on `host`; None where `manage.py demo` has filled none."""
    file = settings.DATA_DIR / "demo.json"
    facts = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    if "embedId" not in facts:
        return None
    return DemoPage(app=app_origin(host, secure=secure), embed_id=facts["embedId"], page_url=facts["pageUrl"])


def app_origin(host: str, *, secure: bool) -> str:
    """The app's origin for a page on `host`: another one than the page's own where this machine has two names."""
    name, _, port = host.partition(":")
    here = f"{'https' if secure else 'http'}://{host}"
    if name not in OTHER_NAME or here != settings.APP_URL:
        return settings.APP_URL
    return here.replace(host, f"{OTHER_NAME[name]}:{port}" if port else OTHER_NAME[name])
