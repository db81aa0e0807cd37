"""The receiver of docs/webhooks.md verifies a signature, answers the challenge and ignores a repeated event."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.documents.reading import blocks, text_of
from tests.service import free_port
from tests.waiting import PATIENCE_SECONDS
from tests.webhooks.making import WEBHOOKS, Owner, send_events

pytestmark = [pytest.mark.slow, pytest.mark.processes, pytest.mark.django_db(transaction=True)]


@pytest.mark.journey
def test_the_receiver_of_the_document_accepts_a_signed_event(local: None, tmp_path: Path) -> None:
    (program,) = [block.text for block in blocks(text_of("docs/webhooks.md")) if block.language == "python"]
    assert len([line for line in program.splitlines() if line.strip()]) <= 22
    file, port, owner = tmp_path / "receiver.py", free_port(), Owner()
    file.write_text(program)
    webhook = owner.create(f"http://127.0.0.1:{port}/", is_verified=False)
    environment = os.environ | {"PORT": str(port), "WEBHOOK_SECRET": webhook["secret"]}
    receiver = subprocess.Popen([sys.executable, file], env=environment, stdout=subprocess.PIPE, text=True)
    try:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while ("webhook.test", 204, None) not in owner.log(webhook):
            assert time.monotonic() < deadline, owner.log(webhook)
            owner.api.post(f"{WEBHOOKS}/{webhook['id']}/test")
            send_events(webhook["id"])
            time.sleep(0.1)
    finally:
        receiver.kill()
    assert receiver.communicate()[0] == "webhook.test None\n"


def test_it_refuses_an_event_with_another_signature(local: None, tmp_path: Path) -> None:
    (program,) = [block.text for block in blocks(text_of("docs/webhooks.md")) if block.language == "python"]
    file, port, owner = tmp_path / "receiver.py", free_port(), Owner()
    file.write_text(program)
    webhook = owner.create(f"http://127.0.0.1:{port}/", is_verified=False)
    environment = os.environ | {"PORT": str(port), "WEBHOOK_SECRET": "whsec_" + "A" * 44}
    receiver = subprocess.Popen([sys.executable, file], env=environment, stdout=subprocess.PIPE, text=True)
    try:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while ("webhook.challenge", 401, "refused") not in owner.log(webhook):
            assert time.monotonic() < deadline, owner.log(webhook)
            owner.api.post(f"{WEBHOOKS}/{webhook['id']}/test")
            send_events(webhook["id"])
            time.sleep(0.1)
    finally:
        receiver.kill()
    assert receiver.communicate()[0] == ""
