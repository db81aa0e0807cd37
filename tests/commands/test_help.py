"""Every command of ours says what it does and what its arguments mean."""

from __future__ import annotations

import pytest
from django.conf import settings
from django.core.management import get_commands, load_command_class

OUR_APPS = ("config", "messaging", "agents", "reactions", "embeds")
OURS = sorted(name for name, app in get_commands().items() if app.startswith(OUR_APPS))
NAMED = {"create_person", "create_community", "issue_user_token", "demo", "prune", "renormalize_pages"}


def test_the_commands_of_the_decisions_are_there() -> None:
    assert set(OURS) >= NAMED | {"narrow_agent", "revoke_agent_tokens"}


def test_the_readme_names_each() -> None:
    table = (settings.BASE_DIR / "README.md").read_text().partition("## Commands")[2].partition("\n## ")[0]
    assert [name for name in OURS if f"`{name}" not in table] == []


@pytest.mark.parametrize("name", OURS)
def test_help_is_clear(name: str) -> None:
    command = load_command_class(get_commands()[name], name)
    assert len(command.help) > 40
    actions = command.create_parser("manage.py", name)._actions
    own = [action for action in actions if action.dest not in Inherited]
    assert all(action.help or action.choices or not action.option_strings for action in own), "each is explained"


Inherited = {
    *("help", "version", "verbosity", "settings", "pythonpath", "traceback", "no_color", "force_color", "skip_checks"),
}
