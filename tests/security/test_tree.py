"""The repository contains no secret, no call to the network and no unpinned dependency."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path

import pytest
from rest_framework_simplejwt.tokens import AccessToken

from agents.tokens import is_well_formed, mint
from tests.documents.test_facts import PRODUCT
from tests.git import git
from tests.service import ROOT

LOCKS = ("requirements.lock", "requirements-dev.lock")
SECRETS = {
    "agent token": r"cag_[0-9A-Za-z]{46}",
    "JWT": r"eyJ[\w-]{20,}\.eyJ[\w-]{20,}\.[\w-]{20,}",
    "private key": r"-----BEGIN [A-Z ]*PRIVATE KEY-----",
    "cloud key": r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b",
    "forge token": r"\b(?:gh[pousr]_[0-9A-Za-z]{36}|glpat-[\w-]{20})\b",
    "address with a password": r"(?i)\b[a-z][a-z0-9+.-]*://[^\s/:@'\"<>{}]+:[^\s/:@'\"<>{}]{6,}@(?![\w.]*example|host\b)[\w.-]+",
}
# Modules that can open a connection to another machine.
NETWORKING = {
    "aiohttp",
    "ftplib",
    "http.client",
    "httpx",
    "requests",
    "smtplib",
    "socketserver",
    "telnetlib",
    "urllib3",
}
NETWORKING |= {"urllib.request", "xmlrpc.client"}
REQUIREMENT = re.compile(r"^([A-Za-z0-9][\w.-]*)(?:\[[^\]]*\])?==(\S+)")


def tracked() -> Iterator[Path]:
    yield from (ROOT / name for name in git("ls-files", "-z").split("\0") if name and (ROOT / name).is_file())


@pytest.mark.processes
@pytest.mark.parametrize("kind", SECRETS)
def test_no_file_contains_a_secret(kind: str) -> None:
    found = {}
    for path in tracked():
        text = path.read_bytes().decode("utf-8", "replace")
        matches = [match for match in re.findall(SECRETS[kind], text) if kind != "agent token" or is_well_formed(match)]
        if matches:
            found[str(path.relative_to(ROOT))] = matches
    assert not found


@pytest.mark.processes
def test_secrets_and_data_are_ignored_by_git() -> None:
    names = {path.name for path in tracked()}
    assert not names & {"secrets.json", "demo.json", ".env", "id_rsa", "postmaster.pid"}
    assert git("check-ignore", ".data/secrets.json", ".venv").split() == [".data/secrets.json", ".venv"]


def test_product_imports_no_network_client() -> None:
    words = {name.partition(".")[0] for name in NETWORKING}
    found = {
        (str(path.relative_to(ROOT)), name)
        for path, tree in parsed(words)
        for name in imports(tree)
        if name in NETWORKING
    }
    # The probe of the stream process of the same host, what the mail server and the sign-in provider that the operator
    # names refuse, and the examination of an operator's own service.
    assert found == {
        ("account_area/sign_in/provider_views.py", "requests"),
        ("kernel/probes/readiness.py", "http.client"),
        ("mails/outcomes.py", "smtplib"),
        ("mails/sending.py", "smtplib"),
        ("runtime/doctor.py", "http.client"),
        ("runtime/doctor.py", "smtplib"),
    }


def test_product_evaluates_no_text_as_code() -> None:
    forbidden, serializers = {"eval", "exec", "compile", "__import__"}, {"pickle", "marshal", "shelve"}
    for path, tree in parsed(forbidden | serializers):
        calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
        assert not forbidden & {call.id for call in calls if isinstance(call, ast.Name)}, path
        assert not serializers & set(imports(tree)), path


@pytest.mark.parametrize("lock", LOCKS)
def test_lock_file_has_versions_and_hashes_and_no_host(lock: str) -> None:
    text = (ROOT / lock).read_text()
    assert not re.search(
        r"https?://|^\s*-|^--(?:index|extra|find|trusted)", text.replace("    --hash", ""), re.MULTILINE
    )
    blocks = re.split(r"\n(?=\S)", re.sub(r"^\s*#.*\n", "", text, flags=re.MULTILINE).strip())
    assert len(blocks) > 20
    for block in blocks:
        assert REQUIREMENT.match(block), block[:80]
        assert re.findall(r"--hash=sha256:[0-9a-f]{64}\b", block), block[:80]


def test_installed_versions_are_the_locked_ones() -> None:
    # A package may have a version for each range of Python's.
    locked: dict[str, set[str]] = {}
    for name, version in (pin for lock in LOCKS for pin in pins((ROOT / lock).read_text())):
        locked.setdefault(name.lower(), set()).add(version)
    installed = {name: metadata.version(name) for name in locked if is_installed(name)}
    assert len(installed) > 30
    assert {name: version for name, version in installed.items() if version not in locked[name]} == {}


def test_every_dependency_is_locked() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    declared = [*project["project"]["dependencies"], *project["dependency-groups"]["dev"]]
    locked = {name.lower() for lock in LOCKS for name, _version in pins((ROOT / lock).read_text())}
    assert {re.split(r"[^\w.-]", name)[0].rstrip("~>=").lower() for name in declared} <= locked


def sources() -> Iterator[Path]:
    for name in (*PRODUCT, "manage.py"):
        path = ROOT / name
        yield from path.rglob("*.py") if path.is_dir() else [path]


def parsed(words: Iterable[str]) -> Iterator[tuple[Path, ast.Module]]:
    """The sources in which any of these words occurs: to parse all of them would take seconds."""
    occurring = re.compile(rf"\b({'|'.join(words)})\b")
    texts = {path: path.read_text() for path in sources()}
    assert len(texts) > 500
    for path, text in texts.items():
        if occurring.search(text):
            yield path, ast.parse(text)


def imports(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def pins(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        if found := REQUIREMENT.match(line):
            yield found[1], found[2].rstrip("\\").strip()


def is_installed(name: str) -> bool:
    try:
        metadata.version(name)
    except metadata.PackageNotFoundError:
        return False
    return True


def test_secret_patterns_match_their_samples() -> None:
    samples = {
        "agent token": f'token = "{mint()}"',
        "JWT": f"Bearer {AccessToken()!s}",
        "private key": "-----BEGIN EC " + "PRIVATE KEY-----",
        "cloud key": "AKIA" + "Q" * 16,
        "forge token": "ghp_" + "a" * 36,
        "address with a password": "postgresql://app:" + "correct-horse@db.internal/app",
    }
    assert samples.keys() == SECRETS.keys()
    assert all(re.search(SECRETS[kind], text) for kind, text in samples.items())
