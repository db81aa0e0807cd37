"""The main journeys in the Firefox of Debian. Playwright cannot drive it; puppeteer-core does, by WebDriver BiDi."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from tests.journeys.node import LOCK_FOLDER, NodePackages
from tests.journeys.start import Start

pytestmark = [pytest.mark.slow, pytest.mark.processes]

PROGRAMS = ("firefox-esr", "firefox")
SCRIPT = "firefox.mjs"


@pytest.fixture(scope="module")
def firefox() -> str:
    """Skips the tests without a Firefox."""
    found = os.environ.get("FIREFOX") or next(filter(None, map(shutil.which, PROGRAMS)), None)
    if found is None:
        reason = "no Firefox: set FIREFOX, or put one of " + ", ".join(PROGRAMS) + " on PATH"
        pytest.skip(reason)
    return found


def test_person_reads_signs_in_posts_replies_reacts_and_follows(
    firefox: str, node_packages: NodePackages, start: Start, tmp_path: Path
) -> None:
    # Imports are resolved from the folder of a module.
    (tmp_path / "node_modules").symlink_to(node_packages.folder / "node_modules")
    script = Path(shutil.copy(LOCK_FOLDER / SCRIPT, tmp_path))
    facts = json.loads((start.service.data / "demo.json").read_text())
    person = facts["person"]["handle"], facts["person"]["password"]
    others = facts["agentToken"], facts["pageId"], facts["communityId"]
    url = f"http://localhost:{start.service.port}/demo/"
    visit = node_packages.run_script(script, firefox, url, *person, *others, cwd=tmp_path, timeout=400)
    assert visit.returncode == 0, visit.stdout + visit.stderr
    seen = json.loads(visit.stdout)
    assert seen["read"] >= 4
    assert seen["background"] in ("rgb(251, 249, 244)", "rgb(26, 25, 22)")
    assert seen["errors"] == []
