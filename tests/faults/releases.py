"""Faults of a rolling upgrade: the next release migrates, and hosts start, while the service runs."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg

from tests.faults.environment import SETTINGS, Environment
from tests.faults.hosts import empty_database, started_at_once
from tests.service import ROOT, Service

APP = "next_release"
NEXT_RELEASE = {"DJANGO_SETTINGS_MODULE": "tests.faults.next_release.settings"}
READING_SECONDS = 2.0


def host_of_next_release(environment: Environment) -> Service:
    """Beside the service. Its start migrates; then the database is migrated back, and both releases serve."""
    host = environment.second_host(**NEXT_RELEASE)
    with migration(environment.service, "zero"):
        pass
    return host


def migrated_while_serving(environment: Environment) -> None:
    """Migrate forwards and backwards: column types change, a function gains and loses a column."""
    for target in ((), ("zero",)):
        with migration(environment.service, *target):
            pass


def migrated_behind_a_reader(environment: Environment) -> None:
    """A long transaction reads posts while the migration needs an exclusive lock on their table."""
    with psycopg.connect(environment.service.cluster.url) as reader:
        reader.execute("SELECT FROM messaging_message")
        with migration(environment.service) as migrating:
            migrating.wait_until_it_waits()
            time.sleep(READING_SECONDS)
            reader.commit()
    with migration(environment.service, "zero"):
        pass


def five_hosts_at_once(environment: Environment) -> None:
    """Five hosts start on one empty database; each creates the demo as well."""
    with empty_database(environment.service.cluster.url) as url, started_at_once(5, url, DEMO="1", **SETTINGS):
        pass


class Migrating:
    """A running `migrate` of the next release on the database of a service."""

    def __init__(self, service: Service, *target: str) -> None:
        environment = service.environment | NEXT_RELEASE
        command = [sys.executable, "manage.py", "migrate", APP, *target, "--verbosity=0"]
        self.output = ""
        self._process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )

    def wait_until_it_waits(self) -> None:
        """Wait until the migration waits for a table that is in use."""
        assert self._process.stdout
        while "is tried again in" not in self.output:
            line = self._process.stdout.readline()
            assert line, self.output
            self.output += line

    def is_at_work(self) -> bool:
        return self._process.poll() is None

    def end(self) -> None:
        self.output += self._process.communicate(timeout=120)[0]
        assert self._process.returncode == 0, self.output


@contextmanager
def migration(service: Service, *target: str) -> Iterator[Migrating]:
    """A migration that starts with the block and has succeeded at its end."""
    migrating = Migrating(service, *target)
    yield migrating
    migrating.end()
