from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from config import secrets

AFTERWARDS = {
    "SECRET_KEY": "It signs everybody out: people and super admins sign in again.",
    "ROOT_KEY": "Seven days later nothing needs the previous one: `rotate_secret ROOT_KEY --finish`.",
    "TOKEN_PEPPER": "Agent tokens move to the new one when they are used. `rotate_secret TOKEN_PEPPER --finish` ends "
    "that: tokens that were not used in between stop working.",
}


class Command(BaseCommand):
    help = (
        "Replace a secret of the service. What the previous one opened still opens until --finish. A secret that the "
        "environment gives is not changed: the lines to put there are printed."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", choices=secrets.NAMES)
        parser.add_argument("--finish", action="store_true", help="forget the previous secret")

    def handle(self, *args: Any, **options: Any) -> None:
        name = options["name"]
        act = self._finish if options["finish"] else self._rotate
        act(name)

    def _rotate(self, name: str) -> None:
        if secrets.read_previous(name, data=settings.DATA_DIR):
            raise CommandError(f"The last rotation is not over: first `rotate_secret {name} --finish`.")
        if secrets.is_kept(name, data=settings.DATA_DIR):
            secrets.rotate(name, data=settings.DATA_DIR)
            self.stdout.write("Done. Restart the service for it to take effect.")
        else:
            self.stdout.write(f"{name}={secrets.new()}")
            if name in secrets.OUTLIVED:
                self.stdout.write(f"{secrets.previous(name)}={getattr(settings, name)}")
            self.stderr.write("Put this into the service's environment and restart it.")
        self.stderr.write(AFTERWARDS[name])

    def _finish(self, name: str) -> None:
        if not secrets.is_kept(name, data=settings.DATA_DIR):
            raise CommandError(f"Take {secrets.previous(name)} out of the service's environment and restart it.")
        secrets.forget_previous(name, data=settings.DATA_DIR)
        self.stdout.write("Done. Restart the service for it to take effect.")
