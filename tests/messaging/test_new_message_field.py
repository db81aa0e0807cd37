"""An optional field of a message is added by three edits: the model, a migration, a row of MESSAGE_FIELDS."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.processes]

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = (
    *("config", "kernel", "runtime", "messaging", "agents"),
    *("reactions", "embeds", "mails", "moving", "oauth", "mcp_server", "account_area", "desk"),
    *("static", "templates", "tests"),
)
STEPS = "tests.messaging.new_field_steps"

MODEL = Path("messaging/models/message.py")
MODEL_FIELD = "    reading_level = models.CharField(max_length=32, null=True, blank=True)\n"
TABLE = Path("messaging/posts/message_fields.py")
TABLE_ROW = """    MessageField(
        "readingLevel", CharField(allow_null=True), body=Text(source="reading_level", required=False, cap=32)
    ),
"""


def insert_before(line: str, new: str, file: Path) -> None:
    text = file.read_text()
    assert text.count(line) == 1, f"{file} must contain {line!r} once"
    file.write_text(text.replace(line, new + line))


def test_a_new_optional_field_takes_three_edits(tmp_path: Path) -> None:
    """The subprocess creates the migration; see `new_field_steps` for its checks."""
    copy = tmp_path / "copy"
    for folder in FOLDERS:
        shutil.copytree(ROOT / folder, copy / folder, ignore=shutil.ignore_patterns("__pycache__"))
    insert_before("    embed_id = models.UUIDField(", MODEL_FIELD, copy / MODEL)
    insert_before('    MessageField("replyCount"', TABLE_ROW, copy / TABLE)
    environment = os.environ | {"DATA_DIR": str(tmp_path / "data")}
    command = [sys.executable, "-m", STEPS]
    finished = subprocess.run(
        command, cwd=copy, env=environment, check=False, capture_output=True, text=True, timeout=120
    )
    assert finished.returncode == 0, finished.stdout + finished.stderr
    assert list((copy / "messaging/migrations").glob("*_message_reading_level.py"))
