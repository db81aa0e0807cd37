"""Every management command has help for itself and its arguments. (tests/documents checks the README's table.)"""

from __future__ import annotations

import pytest
from django.core.management import get_commands, load_command_class

OUR_APPS = ("config", "messaging", "agents", "reactions", "embeds", "mails", "moving", "desk")
OURS = sorted(name for name, app in get_commands().items() if app.startswith(OUR_APPS))


@pytest.mark.parametrize("name", OURS)
def test_a_command_and_its_arguments_have_help(name: str) -> None:
    command = load_command_class(get_commands()[name], name)
    assert len(command.help) > 40
    actions = command.create_parser("manage.py", name)._actions
    own = [action for action in actions if action.dest not in INHERITED]
    assert all(action.help or action.choices or not action.option_strings for action in own), "each argument has help"


INHERITED = {
    *("help", "version", "verbosity", "settings", "pythonpath", "traceback", "no_color", "force_color", "skip_checks"),
}
