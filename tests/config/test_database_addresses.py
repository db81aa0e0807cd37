"""Database addresses, also of several hosts: what is read, and that no refusal prints a password."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured

from kernel.database import addresses, deployment, urls
from tests.service import ROOT

SECRET = "s3cret-of-the-database"
START = f"postgresql://app:{SECRET}@"
SEVERAL = f"{START}db1,db2:6432,10.0.0.7:5433/posts"


@pytest.fixture
def variables(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    for name in ("DATABASE_POOLER", "DATABASE_PREPARE", "DATABASE_DIRECT_URL", "READ_DATABASE_URL", "REDIS_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("DATABASE_URL", f"{START}db1/posts")

    def set_variables(**values: str) -> None:
        for name, value in values.items():
            monkeypatch.setenv(name, value)

    return set_variables


def test_several_hosts_have_a_port_each_and_the_writer_is_used() -> None:
    settings = urls.database(SEVERAL, statement_timeout=5000)
    assert (settings["HOST"], settings["PORT"]) == ("db1,db2,10.0.0.7", "5432,6432,5433")
    assert settings["OPTIONS"]["target_session_attrs"] == "read-write"

    parameters = addresses.parse("postgresql:///posts?host=db1,db2&port=6432")
    assert (parameters["host"], parameters["port"]) == ("db1,db2", "6432,6432"), "one port is that of all hosts"
    one_host = urls.database(f"{START}db1/posts", statement_timeout=5000)
    assert "target_session_attrs" not in one_host["OPTIONS"], "which may be a standby"
    # An address may override what is added to it.
    options = urls.database(f"{SEVERAL}?target_session_attrs=any&tcp_user_timeout=1", statement_timeout=1)["OPTIONS"]
    assert (options["target_session_attrs"], options["tcp_user_timeout"]) == ("any", "1")


def test_a_wrong_address_is_refused_without_its_password(variables: Callable[..., None]) -> None:
    for address in (
        f"{START}db1:70000/posts",
        f"{START}db1:0/posts",
        f"{START}db1:5432a/posts",
        f"{START}db1,db2:/posts?port=1,2,3",
        f"{START}db1, db2/posts",
        f"{START}db1,,db2/posts",
        f"postgresql://app:a@{SECRET}@db1/posts",
        f"postgresql://app:%zz{SECRET}@db1/posts",
        f"{START}db1/posts?no_such_parameter={SECRET}",
        f"host=db1 password='{SECRET}",
        f"mysql://app:{SECRET}@db1/posts",
    ):
        variables(DATABASE_URL=address)
        with pytest.raises(ImproperlyConfigured, match=r"^DATABASE_URL .*: write postgresql://") as refused:
            deployment.databases("", statement_timeout=5000)
        assert SECRET not in str(refused.value)
        assert refused.value.__cause__ is None
        assert refused.value.__suppress_context__ or refused.value.__context__ is None


@pytest.mark.slow
@pytest.mark.processes
@pytest.mark.parametrize("program", [("manage.py", "check"), ("-m", "runtime.run")])
def test_a_start_with_a_wrong_address_prints_one_sentence(tmp_path: Any, program: tuple[str, ...]) -> None:
    environment = os.environ | {
        "DATABASE_URL": f"{START}db1:99999/posts",
        "DATA_DIR": str(tmp_path),
        "STREAMS": "0",
        "PORT": "18999",
    }
    ended = subprocess.run(
        [sys.executable, *program], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 1
    assert "DATABASE_URL has a port that is no number from 1 to 65535" in ended.stderr
    assert SECRET not in ended.stdout + ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"DATABASE_DIRECT_URL": f"{START}db1/posts"}, "set DATABASE_POOLER=1 as well"),
        ({"DATABASE_POOLER": "1"}, "DATABASE_POOLER=1 needs DATABASE_URL, the pooler, and DATABASE_DIRECT_URL"),
        ({"DATABASE_PREPARE": "1"}, "DATABASE_PREPARE is for DATABASE_POOLER=1"),
        ({"READ_DATABASE_URL": f"{START}db2/posts"}, "READ_DATABASE_URL needs REDIS_URL"),
        (
            {"READ_DATABASE_URL": f"{START}db2:x/posts", "REDIS_URL": "redis://cache"},
            "READ_DATABASE_URL has a port that is no number",
        ),
        (
            {"DATABASE_POOLER": "1", "DATABASE_DIRECT_URL": f"{START}db1,,db2/posts"},
            "DATABASE_DIRECT_URL has an empty host, or one with a character of no host",
        ),
    ],
)
def test_combinations_without_meaning_are_refused(
    variables: Callable[..., None], given: dict[str, str], sentence: str
) -> None:
    variables(**given)
    with pytest.raises(ImproperlyConfigured) as refused:
        deployment.databases("", statement_timeout=5000)
    assert sentence in str(refused.value)
    assert SECRET not in str(refused.value)


def test_a_pooler_gets_no_startup_options_and_no_prepared_statements(variables: Callable[..., None]) -> None:
    variables(DATABASE_POOLER="1", DATABASE_DIRECT_URL=f"{START}db2/posts")
    found = deployment.databases("", statement_timeout=5000)
    assert "options" not in found["default"]["OPTIONS"]
    assert found["default"]["OPTIONS"]["prepare_threshold"] is None
    assert found["default"]["DISABLE_SERVER_SIDE_CURSORS"]
    assert (found["direct"]["HOST"], found["direct"]["OPTIONS"]["prepare_threshold"]) == ("db2", 1)
    # One that knows prepared statements gets them.
    variables(DATABASE_PREPARE="1")
    assert deployment.databases("", statement_timeout=5000)["default"]["OPTIONS"]["prepare_threshold"] == 1


def test_each_host_for_reads_has_an_entry(variables: Callable[..., None]) -> None:
    variables(READ_DATABASE_URL=SEVERAL, REDIS_URL="redis://cache")
    found = deployment.databases("", statement_timeout=5000)
    assert [(found[f"standby_{n}"]["HOST"], found[f"standby_{n}"]["PORT"]) for n in range(3)] == [
        ("db1", "5432"),
        ("db2", "6432"),
        ("10.0.0.7", "5433"),
    ]
