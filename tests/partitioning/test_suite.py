"""The operations behave alike where the posts are divided."""

from __future__ import annotations

import os
import subprocess
import sys

from tests.service import ROOT

# Each kind of statement on posts: insert, lists, update, delete, search, moves, and those that lock many.
PARTS = [
    f"tests/{name}.py"
    for name in (
        "messaging/test_create_message",
        "messaging/test_list_messages",
        "messaging/test_edit_message",
        "messaging/test_delete_message",
        "messaging/test_search_messages",
        "messaging/test_hiding",
        "messaging/test_races_of_posts",
        "reactions/test_add_reaction",
        "personal_data/test_erasure",
    )
]


def test_parts_of_the_suite_pass_with_divided_posts() -> None:
    # With DJANGO_SETTINGS_MODULE, pytest-django would load the settings before there is a DATABASE_URL.
    removed = ("DATABASE_URL", "TEMPLATE_CLUSTER", "DATA_DIR", "DJANGO_SETTINGS_MODULE", "PYTEST_XDIST_WORKER")
    environment = {name: value for name, value in os.environ.items() if name not in removed}
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *PARTS],
        cwd=ROOT,
        env=environment | {"PARTITIONED_POSTS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout[-5000:]
