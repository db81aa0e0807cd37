from __future__ import annotations

from messaging.models import DeliveryError


class NotSent(Exception):
    """An event could not be sent, or no valid response arrived."""

    def __init__(self, error: DeliveryError) -> None:
        super().__init__(error)
        self.error = error
