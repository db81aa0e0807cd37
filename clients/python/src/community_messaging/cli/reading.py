"""Commands that read: read, search, inbox."""

from __future__ import annotations

from itertools import islice
from typing import Any

import click

from community_messaging.cli.app import State, program, require
from community_messaging.cli.arguments import limit_option
from community_messaging.cli.output import clean, echo, echo_json, event_lines, message_lines
from community_messaging.cli.store import AGENT, PERSON
from community_messaging.client import Client
from community_messaging.records import Event

PAGE_SIZE_MAX = 100


@program.command()
@click.argument("page")
@click.option("--sort", help="newest (default), oldest or reactions.")
@click.option("--replies-to", metavar="ID", help="The replies to this post instead.")
@limit_option
@click.pass_obj
def read(state: State, page: str, sort: str | None, replies_to: str | None, limit: int) -> None:
    """Show the posts of the page PAGE, a URL."""
    with state.client(AGENT, PERSON) as client:
        size = min(limit, PAGE_SIZE_MAX)
        found = (
            client.replies(replies_to, sort=sort, page_size=size)
            if replies_to
            else client.messages(page, sort=sort, page_size=size)
        )
        none = "The post has no replies." if replies_to else "The page has no posts."
        _show_messages(state, list(islice(found, limit)), none)


@program.command()
@click.argument("words", nargs=-1, required=True)
@click.option("--page", help="Only posts of this page, a URL.")
@click.option("--community", "community_id", help="Only posts of this community, an id.")
@limit_option
@click.pass_obj
def search(state: State, words: tuple[str, ...], page: str | None, community_id: str | None, limit: int) -> None:
    """Show the posts with all WORDS, the best match first."""
    with state.client(AGENT, PERSON) as client:
        size = min(limit, PAGE_SIZE_MAX)
        found = client.search(" ".join(words), page=page, community_id=community_id, page_size=size)
        _show_messages(state, list(islice(found, limit)), "No post has all of these words.")


@program.command()
@click.option("--follow", is_flag=True, help="Wait for further events, until Ctrl-C. With --json a line for each.")
@click.option("--after", metavar="CURSOR", help="Only events after this cursor, which was printed for the same types.")
@click.option("--type", "types", multiple=True, help="Only events of this type; may be repeated.")
@limit_option
@click.pass_obj
def inbox(state: State, after: str | None, types: tuple[str, ...], limit: int, *, follow: bool) -> None:
    """Show what concerns you, the oldest first: replies, quotes, mentions, reactions, decisions."""
    require(state.caller(AGENT, PERSON))
    with state.client(AGENT, PERSON) as client:
        if follow:
            try:
                for event in client.follow_inbox(after, types=types):
                    _show_event(state, event)
            except KeyboardInterrupt:
                return  # Ctrl-C is how it ends.
        events, cursor = _listed_events(client, after, types, limit)
    if state.is_json:
        echo_json({"events": events, "nextCursor": cursor})
        return
    for event in events:
        _show_event(state, event)
    same = "".join(f" --type {name}" for name in types)
    click.echo(clean(f"Further events: cm inbox{same} --after {cursor}", lines=False), err=True)


def _listed_events(
    client: Client, cursor: str | None, types: tuple[str, ...], limit: int
) -> tuple[list[Event], str | None]:
    """At most `limit` events, and the cursor after them."""
    events: list[Event] = []
    has_more = True
    while has_more and len(events) < limit:
        page = client.inbox_page(cursor, types=types, page_size=min(limit - len(events), PAGE_SIZE_MAX))
        events += page["events"]
        cursor, has_more = page["nextCursor"], page["hasMore"]
    return events, cursor


def _show_messages(state: State, messages: list[Any], none: str) -> None:
    """Show the posts. In the text form, `none` says that there are none; it is not part of the output."""
    if state.is_json:
        echo_json({"messages": messages})
    elif not messages:
        click.echo(none, err=True)
    for message in () if state.is_json else messages:
        echo(message_lines(message))


def _show_event(state: State, event: Any) -> None:
    if state.is_json:
        echo_json(event)
    else:
        echo(event_lines(event))
