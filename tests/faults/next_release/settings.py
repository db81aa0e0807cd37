"""The settings of `manage.py migrate` of the next release."""

from tests.faults.settings import *  # noqa: F403
from tests.faults.settings import INSTALLED_APPS

INSTALLED_APPS = [*INSTALLED_APPS, "tests.faults.next_release"]
