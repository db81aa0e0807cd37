"""The wheel of the client for Python, built from the sources beside the service, so that `pip` and `pipx` can install
it from here.

The same sources give the same bytes in every process.
"""

from __future__ import annotations

from functools import cache
from io import BytesIO
from typing import NamedTuple

from django.conf import settings
from django.urls import reverse
from flit_core.wheel import WheelBuilder

PROJECT = settings.BASE_DIR / "clients/python/pyproject.toml"
# The oldest date of a zip file.
DATE = (1980, 1, 1, 0, 0, 0)


class Wheel(NamedTuple):
    name: str
    content: bytes


@cache
def wheel() -> Wheel:
    target = BytesIO()
    builder = WheelBuilder.from_ini_path(PROJECT, target)
    builder.source_time_stamp = DATE
    builder.build()
    return Wheel(builder.wheel_filename, target.getvalue())


def install_command() -> str:
    """The line that installs `cm` from this service."""
    return f"pipx install {settings.BASE_URL}{reverse('client-wheel', args=[wheel().name])}"
