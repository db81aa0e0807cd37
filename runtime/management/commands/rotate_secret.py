from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from config import env, secrets
from kernel import fingerprints
from runtime.data_folder import CannotRun, InUse, check_owner, postgres_of_command, sole_use
from runtime.postgres import embedded

AFTERWARDS = {
    "SECRET_KEY": "All sign-ins end: people and super admins sign in again. The previous key verifies nothing; it is "
    "stored so that the next start recognises its database.",
    "ROOT_KEY": "After seven days, and a run of `prune`, the previous key is not needed. {finish}",
    "TOKEN_PEPPER": "Agent tokens move to the new one when they are used. Those that were not used before the end of "
    "the rotation stop working. {finish}",
}
IN_ENVIRONMENT = (
    "One host: set these in the environment of the service and restart it.\n"
    "Several hosts: first give each of them the new {name} as {previous}, beside the present {name}, and restart it. "
    "When all have both, set these on each and restart it, in any order."
)
TAKE_OUT = "Take {previous} out of the environment of each host and restart it."
LOST = {
    "SECRET_KEY": "All sign-ins end: people and super admins sign in again.",
    "ROOT_KEY": "The stored responses of the last seven days cannot be decrypted: a write of that time that is "
    "repeated with its Idempotency-Key runs a second time. Cursors issued before are refused. Webhooks are disabled "
    "until their owners rotate their secrets. Codes of second factors are refused (see `remove_second_factor`), and "
    "handles of erased people can be claimed again.",
    "TOKEN_PEPPER": "Agent tokens issued before stop working; their operators issue new ones.",
}


class Command(BaseCommand):
    help = (
        "Replace a secret of the service. The previous ROOT_KEY or TOKEN_PEPPER is accepted until --finish; a new "
        "SECRET_KEY ends all sign-ins. A secret of secrets.json is replaced only while the service is stopped; one of "
        "the environment is not changed: the command prints the lines to set there."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", choices=secrets.NAMES)
        act = parser.add_mutually_exclusive_group()
        act.add_argument("--finish", action="store_true", help="forget the previous secret")
        act.add_argument(
            "--lost",
            action="store_true",
            help="accept the current secret if the one that the database was used with is lost; prints what is lost "
            "with it",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        name, data = options["name"], settings.DATA_DIR
        act = self._give_up if options["lost"] else self._finish if options["finish"] else self._rotate
        # A process that starts with the new secret, such as `prune`, would write what running ones cannot read.
        is_locked = act == self._rotate and secrets.is_in_file(name, data=data)
        try:
            if secrets.is_in_file(name, data=data):
                check_owner(data)
            with sole_use(data) if is_locked else nullcontext(), _database(is_locked=is_locked):
                act(name)
        except InUse:
            raise CommandError(f"Stop the service first: its processes know only the present {name}.") from None
        except CannotRun as error:
            raise CommandError(str(error)) from None

    def _give_up(self, name: str) -> None:
        fingerprints.give_up(name)
        self.stdout.write(f"Done. This database belongs to the present {name}.")
        self.stderr.write(LOST[name])

    def _rotate(self, name: str) -> None:
        fingerprints.require_known_secrets()
        if name in secrets.OUTLIVED and secrets.read_previous(name, data=settings.DATA_DIR):
            raise CommandError(f"The last rotation is not over. To end it: {_how_to_finish(name)}")
        if secrets.is_in_file(name, data=settings.DATA_DIR):
            secrets.rotate(name, data=settings.DATA_DIR)
            self.stdout.write("Done. Start the service.")
        else:
            self.stdout.write(f"{name}={secrets.new()}")
            self.stdout.write(f"{secrets.previous(name)}={getattr(settings, name)}")
            self.stderr.write(IN_ENVIRONMENT.format(name=name, previous=secrets.previous(name)))
        self.stderr.write(AFTERWARDS[name].format(finish=f"To end the rotation: {_how_to_finish(name)}"))

    def _finish(self, name: str) -> None:
        fingerprints.require_known_secrets()
        if not secrets.is_in_file(name, data=settings.DATA_DIR):
            raise CommandError(_how_to_finish(name))
        secrets.forget_previous(name, data=settings.DATA_DIR)
        self.stdout.write("Done. Restart the service for it to take effect.")


def _how_to_finish(name: str) -> str:
    if secrets.is_in_file(name, data=settings.DATA_DIR):
        return f"`rotate_secret {name} --finish`."
    return TAKE_OUT.format(previous=secrets.previous(name))


@contextmanager
def _database(*, is_locked: bool) -> Iterator[None]:
    """Run the embedded PostgreSQL for the command, because a start may have been refused for a secret."""
    if env.text("DATABASE_URL") or not embedded(settings.DATA_DIR).is_made():
        yield
        return
    with postgres_of_command(settings.DATA_DIR, is_locked=is_locked):
        yield
