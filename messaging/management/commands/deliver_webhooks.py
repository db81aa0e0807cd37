from __future__ import annotations

from django.conf import settings
from django.core.management.base import CommandError

from kernel.jobs.deliverers import DelivererCommand
from messaging.webhooks.deliverer import Deliverer


class Command(DelivererCommand):
    help = (
        "Deliver the events of webhooks until SIGTERM or Ctrl-C. A service that runs with WEBHOOKS=1 starts it; any "
        "number of hosts may run it. An event that is being sent when it stops is sent again."
    )

    def require_settings(self) -> None:
        if not settings.WEBHOOKS:
            raise CommandError("WEBHOOKS=1 is not set: this service sends no webhooks.")

    def deliverer(self) -> Deliverer:
        return Deliverer()
