"""The code that sites copy: what it signs is exchanged. Each language is tried where it is installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from embeds.site_accounts.code import LANGUAGES, server_code
from tests.embeds.site_tokens import Site

pytestmark = [pytest.mark.django_db, pytest.mark.processes, pytest.mark.slow]

NAME = "Zoë O'Brien 🦊"
GO = f"""package main

import "fmt"

func main() {{
	token, _ := communityToken("42", "{NAME}", "zoe@example.com", true)
	fmt.Println(token)
}}
"""
# Each language has the file of the code, one that calls it if that is another, what is added, and the command.
RUNS = {
    "python": ("sign.py", "", f'\nprint(community_token(42, "{NAME}", "zoe@example.com", True))', [sys.executable]),
    "php": ("sign.php", "", f'\necho community_token(42, "{NAME}", "zoe@example.com", true);', ["php"]),
    "node": ("sign.cjs", "", f'\nconsole.log(communityToken(42, "{NAME}", "zoe@example.com", true));', ["node"]),
    "ruby": ("sign.rb", "", f'\nputs community_token(42, "{NAME}", "zoe@example.com", true)', ["ruby"]),
    "go": ("sign.go", "main.go", GO, ["go", "run"]),
}


def test_every_language_has_code_and_a_test() -> None:
    assert RUNS.keys() == LANGUAGES.keys()


@pytest.mark.parametrize("language", sorted(RUNS))
def test_the_code_of_a_language_signs_a_reader_in(language: str, tmp_path: Path) -> None:
    name, other, call, command = RUNS[language]
    if shutil.which(command[0]) is None:
        pytest.skip(f"no {command[0]} on PATH")
    site = Site()
    code = server_code(language, embed_id=site.embed.pk)
    files = {name: code, other: call} if other else {name: code + call}
    for file, text in files.items():
        (tmp_path / file).write_text(text, encoding="utf-8")
    environment = os.environ | {"COMMUNITY_SECRET": site.secret, "HOME": str(tmp_path), "LANG": "C.UTF-8"}
    ran = subprocess.run(
        [*command, *files], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=120
    )
    assert ran.returncode == 0, ran.stderr
    answer = site.send(ran.stdout.strip())
    assert answer.status == 200, answer.json
    assert (answer.json["user"]["name"], answer.json["moderates"]) == (NAME, True)
    assert (site.account().subject, site.account().email) == ("42", "zoe@example.com")
