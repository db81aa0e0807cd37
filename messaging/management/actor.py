"""The account that a command logs its decisions under."""

from __future__ import annotations

from argparse import ArgumentParser

from django.core.management.base import CommandError

from messaging.accounts.services import COMMAND_LINE, command_line
from messaging.models import Account, AccountKind
from messaging.models.account import OF_SERVICE


def add_by_option(parser: ArgumentParser) -> None:
    parser.add_argument("--by", metavar="HANDLE", help=f"person to log the decision under (default: @{COMMAND_LINE})")


def get_actor(handle: str | None) -> Account:
    """The person named by --by, or the account of the command line, which has no password."""
    return command_line() if handle is None else get_person(handle)


def get_person(handle: str) -> Account:
    """The person with this handle; raises CommandError if there is none."""
    person = Account.objects.filter(~OF_SERVICE, handle=handle, kind=AccountKind.HUMAN).first()
    if person is None:
        raise CommandError(f"Person @{handle} does not exist.")
    return person
