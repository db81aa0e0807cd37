from __future__ import annotations

from io import StringIO
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand

from kernel import fingerprints
from runtime import supervisor


class Command(BaseCommand):
    help = (
        "Migrate the database, create the demo unless DEMO=0, count for the overview if that has never been done, and "
        "load the application: what a start does before it serves, in one process, since each would import everything "
        "again. Safe to repeat."
    )
    requires_system_checks = []

    def handle(self, *args: Any, **options: Any) -> None:
        with supervisor.none_during_start():
            call_command("migrate", verbosity=0, skip_checks=False)
            # A new database stores the fingerprints of the secrets.
            fingerprints.require_known_secrets()
            if settings.DEMO:
                call_command("demo", verbosity=0)
            # Else the overview would be empty for an hour.
            interval = [f"--interval={settings.HOUSEKEEPING_MINUTES}"] if settings.HOUSEKEEPING_MINUTES else []
            call_command("roll_up_desk", "--first", *interval, stdout=StringIO())
            # If the application did not load, granian would respawn its workers for ever.
            import config.asgi
            import config.wsgi  # noqa: F401
