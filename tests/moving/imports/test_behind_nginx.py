"""Files of imports through nginx with deploy/nginx.conf, in front of a real service."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from http.client import HTTPConnection

import httpx
import pytest

from tests.moving.files import SAMPLES
from tests.nginx import needs_nginx, nginx_before
from tests.service import ROOT, Service, running_service

pytestmark = [pytest.mark.slow, pytest.mark.processes]

MEGABYTE = 1 << 20
SIGN_IN = """
import json
from django.conf import settings
from django.test import Client
from messaging.models import Account
from messaging.communities.services import create_community
owner = Account.objects.get(handle="olive")
community, client = create_community(owner=owner, name="Harbour"), Client()
client.force_login(owner)
print(json.dumps([community.slug, settings.SESSION_COOKIE_NAME, client.cookies[settings.SESSION_COOKIE_NAME].value]))
"""


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    with running_service(TRUSTED_PROXIES="127.0.0.1") as service:
        yield service


def manage(service: Service, *arguments: str) -> str:
    command = [sys.executable, "manage.py", *arguments]
    done = subprocess.run(command, cwd=ROOT, env=service.environment, check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout


def refusal_of(port: int, path: str, length: int) -> tuple[int, int]:
    """(status, `max`). The length is enough: nginx does not wait for the body."""
    connection = HTTPConnection("127.0.0.1", port, timeout=120)
    connection.putrequest("POST", path)
    connection.putheader("Content-Length", str(length))
    connection.endheaders()
    response = connection.getresponse()
    body = json.loads(response.read())
    connection.close()
    return response.status, body["max"]


@needs_nginx
def test_nginx_passes_the_file_of_an_import_and_refuses_larger_ones(service: Service) -> None:
    manage(service, "create_person", "olive", "--name", "Olive")
    slug, cookie, session = json.loads(manage(service, "shell", "--no-imports", "-c", SIGN_IN))
    path = f"/account/communities/{slug}/moderation/imports/"
    content = (SAMPLES / "disqus.xml").read_bytes() + b"<!-- " + b"x" * 20 * MEGABYTE + b" -->"
    with (
        nginx_before(service.port) as port,
        httpx.Client(base_url=f"http://127.0.0.1:{port}", cookies={cookie: session}, timeout=120) as client,
    ):
        token = client.get(path).text.partition('name="csrfmiddlewaretoken" value="')[2].partition('"')[0]
        sent = {"csrfmiddlewaretoken": token, "format": "disqus", "map": ""}
        taken = client.post(path, data=sent, files={"file": ("old.xml", content)})
        assert taken.status_code == 302, taken.text
        assert "old.xml" in client.get(taken.headers["Location"]).text
        for address, most in ((path, 201 * MEGABYTE), (f"{path}?x=1", 201 * MEGABYTE), ("/account/me/", MEGABYTE)):
            assert refusal_of(port, address, most + 1) == (413, most)
