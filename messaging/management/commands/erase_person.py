from __future__ import annotations

import json
from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from kernel import fingerprints
from kernel.api.exceptions import ApiError
from kernel.jobs.queue import run_due
from messaging.management.actor import add_by_option, get_actor, get_person
from messaging.models import Account, PersonErasure, PostsChoice
from messaging.privacy import ERASURE
from messaging.privacy.erasing import WAIT, cancel_erasure, erasure_of, request_erasure


class Command(BaseCommand):
    help = (
        "Erase a person and the agents they operate: names, handles, addresses and secrets. Sessions and agents end at "
        "once, the rest follows after seven days, until which the person, or --undo, can cancel it. The posts stay as "
        "those of a deleted account, or are deleted. Safe to run twice."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("handle")
        act = parser.add_mutually_exclusive_group(required=True)
        act.add_argument("--posts", choices=PostsChoice.values, help="what happens with the posts")
        act.add_argument("--undo", action="store_true", help="cancel the erasure")
        parser.add_argument("--now", action="store_true", help="erase at once; this cannot be undone")
        add_by_option(parser)
        parser.add_argument("--json", action="store_true", help="print {handle, posts, dueAt, erased}")

    def handle(self, *args: Any, **options: Any) -> None:
        fingerprints.require_known_secrets()
        person = get_person(options["handle"])
        try:
            erasure = _decide(person, options)
        except ApiError as refusal:
            raise CommandError(refusal.default_code) from None
        if options["now"]:
            run_due(ERASURE)
        is_erased = not Account.objects.filter(pk=person.pk).exists()
        if options["now"] and erasure and not is_erased:
            raise CommandError("The erasure has begun and is not over: see the log, and run `run_job erasures`.")
        self._print(person, erasure, is_erased=is_erased, as_json=options["json"])

    def _print(self, person: Account, erasure: PersonErasure | None, *, is_erased: bool, as_json: bool) -> None:
        if as_json:
            due_at = erasure and erasure.due_at.isoformat()
            record = {"handle": person.handle, "posts": erasure and erasure.posts, "dueAt": due_at, "erased": is_erased}
            self.stdout.write(json.dumps(record, default=str))
            return
        if is_erased:
            self.stdout.write(f"{person}: erased")
        else:
            self.stdout.write(
                f"{person}: to be erased at {erasure.due_at:%Y-%m-%d %H:%M}" if erasure else f"{person}: stays"
            )


def _decide(person: Account, options: dict[str, Any]) -> PersonErasure | None:
    by = get_actor(options["by"])
    if options["undo"]:
        if erasure_of(person.pk):
            cancel_erasure(person=person, by=by)
        return None
    wait = timedelta() if options["now"] else WAIT
    return request_erasure(person=person, posts=PostsChoice(options["posts"]), by=by, wait=wait)
