"""A small OpenID Connect provider on this machine: discovery, token endpoint with PKCE, userinfo, and keys."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from django.test import Client

BEGIN = "/account/sign-in/provider/oidc/"
CLIENT_ID, CLIENT_SECRET = "community", "a secret of the client"


class Provider(ThreadingHTTPServer):
    """`claims` are of the person who signs in next."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.claims: dict[str, Any] = {"sub": "1"}
        self.codes: dict[str, dict[str, Any]] = {}
        self.tokens: dict[str, dict[str, Any]] = {}
        self.key = rsa.generate_private_key(public_exponent=65537, key_size=2048)

    def authorize(self, url: str) -> str:
        """What the page of the provider does when its person agrees: the address to go back to."""
        asked = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
        assert (asked["response_type"], asked["client_id"]) == ("code", CLIENT_ID)
        code = secrets.token_urlsafe(16)
        self.codes[code] = {"claims": dict(self.claims), "challenge": asked["code_challenge"]}
        return f"{asked['redirect_uri']}?code={code}&state={asked['state']}"

    def exchange(self, sent: dict[str, str]) -> dict[str, Any]:
        grant = self.codes.pop(sent["code"])
        digest = hashlib.sha256(sent["code_verifier"].encode()).digest()
        assert base64.urlsafe_b64encode(digest).decode().rstrip("=") == grant["challenge"]
        token = secrets.token_urlsafe(16)
        self.tokens[token] = grant["claims"]
        times = {"iat": int(time.time()), "exp": int(time.time()) + 600}
        claims = grant["claims"] | times | {"iss": self.url, "aud": CLIENT_ID}
        id_token = jwt.encode(claims, self.key, algorithm="RS256", headers={"kid": "1"})
        return {"access_token": token, "token_type": "Bearer", "id_token": id_token, "expires_in": 600}

    def keys(self) -> dict[str, Any]:
        public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(self.key.public_key()))
        return {"keys": [public | {"kid": "1", "use": "sig", "alg": "RS256"}]}

    def discovery(self) -> dict[str, Any]:
        return {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "userinfo_endpoint": f"{self.url}/userinfo",
            "jwks_uri": f"{self.url}/keys",
            "token_endpoint_auth_methods_supported": ["client_secret_post"],
        }


class Handler(BaseHTTPRequestHandler):
    server: Provider

    def do_GET(self) -> None:
        bearer = self.headers.get("Authorization", "").removeprefix("Bearer ")
        answers = {
            "/.well-known/openid-configuration": self.server.discovery,
            "/keys": self.server.keys,
            "/userinfo": lambda: self.server.tokens[bearer],
        }
        self._answer(answers[self.path]())

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        sent = {name: values[0] for name, values in parse_qs(body).items()}
        assert (self.path, sent["client_secret"]) == ("/token", CLIENT_SECRET)
        self._answer(self.server.exchange(sent))

    def _answer(self, record: dict[str, Any]) -> None:
        body = json.dumps(record).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: Any) -> None:
        pass


def begin(client: Client, provider: Provider, **sent: str) -> str:
    """Press the button; returns the address at the provider that the browser goes to."""
    page = client.post(BEGIN, sent).content.decode()
    address = html.unescape(re.findall(r'http-equiv="refresh" content="0;url=([^"]+)"', page)[0])
    assert address.startswith(f"{provider.url}/authorize?")
    return address


@contextmanager
def running_provider() -> Iterator[Provider]:
    provider = Provider()
    thread = threading.Thread(target=provider.serve_forever, daemon=True)
    thread.start()
    try:
        yield provider
    finally:
        provider.shutdown()
        provider.server_close()
        thread.join()
