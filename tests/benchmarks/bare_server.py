"""`python -m tests.benchmarks.bare_server`: the bare application on the server of the service."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from runtime import granian


def load_application() -> Callable[..., Any]:
    import django

    # The modules of its statements import models.
    django.setup()
    from tests.benchmarks.bare import application

    return application


if __name__ == "__main__":
    granian.serve(int(os.environ["PORT"]), load_application)
