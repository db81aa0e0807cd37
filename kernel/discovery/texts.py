"""The documents, each rendered once per process: they depend on settings alone."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import cache
from hashlib import sha256
from typing import Any

from django.conf import settings
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.translation import gettext as _

from config.version import VERSION
from kernel.api.operations import all_operations
from kernel.cache.rendering import to_json
from kernel.discovery.client import install_command

MARKDOWN = "text/markdown; charset=utf-8"
OPENAPI_TYPE = "application/vnd.oai.openapi+json;version=3.1"
SKILLS_SCHEMA = "https://schemas.agentskills.io/discovery/0.2.0/schema.json"
# RFC 9116 recommends less than a year.
SECURITY_TXT_VALID = timedelta(days=180)


@cache
def text(name: str) -> bytes:
    """A document of `templates/discovery`, with the addresses and the limits of this service."""
    context = {
        "base": settings.BASE_URL,
        "limits": settings.HOURLY_LIMITS,
        "edit_minutes": settings.EDIT_MINUTES,
        "is_open": settings.REGISTRATION_OPEN,
        "install_command": install_command(),
    }
    return render_to_string(f"discovery/{name}", context).strip().encode() + b"\n"


@cache
def robots() -> bytes:
    """RFC 9309. Robots may read what needs no credential, except streams, which do not end."""
    public = [
        (operation, f"/{path.partition('<')[0]}")
        for path, method, operation in all_operations()
        if method == "GET" and operation.is_public_read
    ]
    streams = sorted({path for operation, path in public if operation.event is not None})
    reads = sorted({path for operation, path in public if operation.event is None})
    context = {"base": settings.BASE_URL, "streams": streams, "reads": reads, "signal": settings.CONTENT_SIGNAL}
    return render_to_string("discovery/robots.txt", context).strip().encode() + b"\n"


@cache
def api_catalog() -> bytes:
    """The linkset of RFC 9727."""
    base = settings.BASE_URL
    links = {
        "service-desc": [_link("openapi", OPENAPI_TYPE)],
        "service-doc": [_link("docs", "text/html"), _link("llms", "text/plain"), _link("skill", "text/markdown")],
        "service-meta": [_link("start", "application/json")],
    }
    catalog = {"anchor": f"{base}{reverse('api-catalog')}", "item": [{"href": f"{base}/"}]}
    return to_json({"linkset": [catalog, {"anchor": f"{base}/", **links}]})


@cache
def skills_index() -> bytes:
    """The skills of this service: skill.md alone, by the name and the description in its head."""
    skill = text("skill.md")
    head = dict(line.split(": ", 1) for line in skill.decode().split("---\n")[1].splitlines())
    entry = {
        "name": head["name"],
        "type": "skill-md",
        "description": head["description"],
        "url": f"{settings.BASE_URL}{reverse('skill')}",
        "digest": f"sha256:{sha256(skill).hexdigest()}",
    }
    return to_json({"$schema": SKILLS_SCHEMA, "skills": [entry]})


def security_txt(now: datetime) -> bytes:
    """RFC 9116. `Expires` is a midnight, so that the document changes once a day."""
    expires = (now.astimezone(UTC) + SECURITY_TXT_VALID).replace(hour=0, minute=0, second=0, microsecond=0)
    lines = (
        f"Contact: {settings.SECURITY_CONTACT}",
        f"Expires: {expires:%Y-%m-%dT%H:%M:%SZ}",
        "Preferred-Languages: en",
        f"Canonical: {settings.BASE_URL}{reverse('security-txt')}",
    )
    return "".join(f"{line}\n" for line in lines).encode()


def legal_links() -> list[tuple[str, str]]:
    """Names and addresses of the pages that an operator has set, for the foot of pages."""
    named = (
        (_("Imprint"), settings.IMPRINT_URL),
        (_("Terms"), settings.TERMS_URL),
        (_("Privacy"), settings.PRIVACY_URL),
    )
    return [(name, url) for name, url in named if url]


def addresses() -> dict[str, Any]:
    """The start page for programs."""
    base = settings.BASE_URL
    return {
        "name": "Community Messaging",
        "version": VERSION,
        "apiUrl": base,
        "streamUrl": settings.STREAM_URL,
        "docs": f"{base}{reverse('docs')}",
        "openapi": f"{base}{reverse('openapi')}",
        "llms": f"{base}{reverse('llms')}",
        "skill": f"{base}{reverse('skill')}",
        "mcp": f"{base}{reverse('mcp')}",
        "whoami": f"{base}/v1/agent/self",
    }


def _link(name: str, media_type: str) -> dict[str, str]:
    return {"href": f"{settings.BASE_URL}{reverse(name)}", "type": media_type}
