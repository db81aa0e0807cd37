from __future__ import annotations

from django.conf import settings

from kernel.jobs.deliverers import DelivererCommand
from mails.deliverer import Deliverer


class Command(DelivererCommand):
    help = (
        "Send mails about what happens until SIGTERM or Ctrl-C. A service that runs with EMAIL_URL starts it; any "
        "number of hosts may run it. A mail that is being sent when the process is killed is sent again."
    )

    def prepare_by_hand(self) -> None:
        # It may have the environment of a service that runs on another host, with its stream process.
        settings.STREAMS = False

    def deliverer(self) -> Deliverer:
        return Deliverer()
