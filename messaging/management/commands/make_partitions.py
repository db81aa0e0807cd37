from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import connection

from kernel.database.locks import HostLockTaken, TableInUse, host_lock
from messaging.posts.partitioning.swapping import make_partitions


class Command(BaseCommand):
    help = (
        "Make the partitions of the posts of the next months; does nothing unless `partition_messages` has divided the "
        "table. Run it hourly. Safe to run twice or concurrently, and beside the service."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            # A conversion may take hours, and the housekeeping has more to do.
            with host_lock(connection, task="migrates", say=self.stdout.write, waits=False):
                make_partitions(say=self.stdout.write)
        except HostLockTaken:
            self.stdout.write("A migration or a conversion is running; the next run makes partitions.")
        except TableInUse as failure:
            raise CommandError(str(failure)) from None
