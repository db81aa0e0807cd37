"""What every page of the super admins' desk (`/admin/`) is made of; the apps' `admin` modules are built on it."""

from messaging.desk.decisions import REASON_MAX, Decision, DecisionForm
from messaging.desk.opened import OpenedForm
from messaging.desk.paging import CountsSoFar
from messaging.desk.rows import DeskAdmin
from messaging.desk.waiting import Waiting

__all__ = ["REASON_MAX", "CountsSoFar", "Decision", "DecisionForm", "DeskAdmin", "OpenedForm", "Waiting"]
