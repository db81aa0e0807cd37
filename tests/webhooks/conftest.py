from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.webhooks.receiver import Receiver, make_authority, running_receiver


@pytest.fixture(autouse=True)
def _webhooks_enabled(settings: Any) -> None:
    settings.WEBHOOKS = True


@pytest.fixture
def local(settings: Any) -> None:
    """Allow http and local addresses."""
    settings.WEBHOOKS_ALLOW_LOCAL = True


@pytest.fixture
def receiver(local: None) -> Iterator[Receiver]:
    with running_receiver() as receiver:
        yield receiver


@pytest.fixture
def authority(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The deliverer trusts a test authority; the value is the file with the certificate of `receiver.example`."""
    # Imported here: Django is not set up when pytest reads this file.
    from messaging.webhooks.posting import tls_context

    trusted, certificate = make_authority(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(trusted))
    tls_context.cache_clear()
    yield certificate
    tls_context.cache_clear()
