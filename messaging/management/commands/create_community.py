from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError

from kernel.api.exceptions import ApiError
from messaging.communities.services import RULES, community_record, ensure_community
from messaging.management.actor import get_person


class Command(BaseCommand):
    help = (
        "Create a community, or update the one with this slug: only the given options are changed. "
        "Prints the community as one JSON object. Safe to run twice."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="1 to 120 characters")
        parser.add_argument("--slug", help="default: derived from the name")
        parser.add_argument(
            "--block", action="append", metavar="WORD", help="a blocked word, phrase or prefix*; may be repeated"
        )
        parser.add_argument(
            "--rule",
            action="append",
            default=[],
            metavar="NAME=VALUE",
            help=f"one of {', '.join(RULES)}; may be repeated. A list (allowedTagTypes) has commas between its "
            "values, or the option once for each of them; an empty value clears it. "
            "Example: --rule readOnly=true --rule preModeration=agents --rule allowedTagTypes=claim,evidence",
        )
        parser.add_argument(
            "--moderator",
            action="append",
            default=[],
            metavar="HANDLE",
            help="a person who moderates it; may be repeated. "
            "A new community with moderators has the rule embedding=moderators, another one embedding=open",
        )
        parser.add_argument("--json", action="store_true", help="accepted for consistency; the output is always JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            community = ensure_community(
                name=options["name"],
                slug=options["slug"],
                blocked_words=options["block"],
                rules=_rules(options["rule"]),
                moderators=[get_person(handle.removeprefix("@")) for handle in options["moderator"]],
            )
        except ValidationError as refusal:
            raise CommandError(_message(refusal)) from None
        except ApiError as refusal:
            raise CommandError(f"--moderator: {refusal.message}") from None
        self.stdout.write(json.dumps(community_record(community), default=str))


NAMES = {column: rule for rule, (column, _read) in RULES.items()} | {"slug": "--slug", "blocked_words": "--block"}


def _message(refusal: ValidationError) -> str:
    """The messages in one line, with the names of options and rules instead of columns."""
    if not hasattr(refusal, "error_dict"):
        return "; ".join(refusal.messages)
    return "; ".join(f"{NAMES.get(column, column)}: {' '.join(text)}" for column, text in refusal.message_dict.items())


def _rules(given: list[str]) -> dict[str, str]:
    """The rules by name; the values of a repeated name are joined to one list."""
    rules: dict[str, str] = {}
    for name, value in map(_split, given):
        rules[name] = f"{rules[name]},{value}" if name in rules else value
    return rules


def _split(rule: str) -> tuple[str, str]:
    name, equals, value = rule.partition("=")
    if not equals:
        raise CommandError(f"--rule {rule}: write NAME=VALUE.")
    return name, value
