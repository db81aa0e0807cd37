"""Every management command has help for itself and its arguments. (tests/documents checks the README's table.)"""

from __future__ import annotations

from django.core.management import get_commands, load_command_class

OUR_APPS = (
    *("config", "kernel", "runtime", "messaging", "agents", "reactions", "embeds", "mails", "moving"),
    *("oauth", "desk"),
)
OURS = sorted(name for name, app in get_commands().items() if app.startswith(OUR_APPS))


INHERITED = {
    *("help", "version", "verbosity", "settings", "pythonpath", "traceback", "no_color", "force_color", "skip_checks"),
}


def test_every_command_and_its_arguments_have_help() -> None:
    assert len(OURS) > 10
    for name in OURS:
        command = load_command_class(get_commands()[name], name)
        assert len(command.help) > 40, name
        actions = command.create_parser("manage.py", name)._actions
        own = [action for action in actions if action.dest not in INHERITED]
        assert all(action.help or action.choices or not action.option_strings for action in own), name
