"""Starts with missing secrets, or with other secrets than those of the database, in real processes."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator

import pytest

from config.secrets import NAMES
from tests.service import ROOT, Service, a_service, running_service
from tests.waiting import PATIENCE_SECONDS

pytestmark = [pytest.mark.slow, pytest.mark.processes]

NONE: dict[str, str] = dict.fromkeys(NAMES, "")


@pytest.fixture(scope="module")
def host() -> Iterator[Service]:
    """The first host, which creates its secrets. The other hosts use its PostgreSQL."""
    with running_service(**NONE) as service:
        yield service


def refused(service: Service) -> str:
    """The output of a start that exits with 1."""
    assert service.launch().wait(PATIENCE_SECONDS) == 1, service.said()
    return service.said()


def manage(service: Service, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "manage.py", *arguments]
    return subprocess.run(command, cwd=ROOT, env=service.environment, capture_output=True, text=True, check=False)


def test_a_second_host_without_a_secret_is_refused_and_creates_none(host: Service) -> None:
    """A start refuses it and so do commands, of which one could create the secret, another one content."""
    starts = (None, "demo", "migrate")
    for missing, command in zip(NAMES, starts, strict=True):
        given = {"DATABASE_URL": host.cluster.url, **host.secrets(), missing: "", "DEMO": "1"}
        with a_service(**given) as second:
            said = manage(second, command).stderr if command else refused(second)
            assert said.startswith(
                f"{'manage.py' if command else 'make run'}: {missing} is missing, and is not created for a "
                "DATABASE_URL: set it to that of the other hosts"
            )
            assert len(said.splitlines()) == 1
            assert not (second.data / "secrets.json").exists()
            assert not (second.data / "demo.json").exists()


def test_a_second_host_with_another_secret_is_refused(host: Service) -> None:
    for name in NAMES:
        given = {"DATABASE_URL": host.cluster.url, **host.secrets(), name: "o" * 60}
        with a_service(**given) as second:
            output = refused(second)
            assert output.startswith(f"make run: {name} is not the secret that this database was last used with: ")
            assert len(output.splitlines()) == 1


def test_hosts_can_rotate_a_secret_one_after_the_other(host: Service) -> None:
    old, new = host.secrets(), "n" * 60
    exchanged = old | {"ROOT_KEY": new, "ROOT_KEY_PREVIOUS": old["ROOT_KEY"]}
    not_yet = old | {"ROOT_KEY_PREVIOUS": new}
    for given in (exchanged, not_yet):
        with running_service(DATABASE_URL=host.cluster.url, **given):
            pass


def test_data_without_its_secrets_is_refused_and_a_lost_one_can_be_replaced(host: Service) -> None:
    """A data folder that was restored without its secrets, and one in which a secret is another."""
    host.stop()
    file = host.data / "secrets.json"
    away = file.rename(file.with_suffix(".away"))
    output = refused(host)
    assert output.startswith(f"make run: SECRET_KEY is missing: restore {file}")
    assert len(output.splitlines()) == 1
    assert not file.exists()
    assert not host.cluster.is_running()

    file.write_text(json.dumps(json.loads(away.read_text()) | {"TOKEN_PEPPER": "l" * 60}))
    output = refused(host)
    assert "TOKEN_PEPPER is not the secret that this database was last used with" in output
    assert "manage.py rotate_secret TOKEN_PEPPER --lost" in output
    # The service does not run, so the command starts PostgreSQL.
    done = manage(host, "rotate_secret", "TOKEN_PEPPER", "--lost")
    assert done.returncode == 0, done.stderr
    assert "Agent tokens issued before stop working" in done.stderr
    assert not host.cluster.is_running()
    host.start()
