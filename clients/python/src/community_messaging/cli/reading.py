"""Commands that read: read, show, search, posts, communities, tags, inbox."""

from __future__ import annotations

import json
from itertools import islice
from typing import Any

import click

from community_messaging.cli.app import State, program, require
from community_messaging.cli.arguments import limit_option
from community_messaging.cli.output import INDENT, clean, echo, echo_json, event_lines, message_lines
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
@click.argument("message_id", metavar="ID")
@click.pass_obj
def show(state: State, message_id: str) -> None:
    """Show the post ID, and where it is."""
    with state.client(AGENT, PERSON) as client:
        message = client.message(message_id)
    if state.is_json:
        echo_json(message)
    else:
        echo(message_lines(message))
        click.echo(clean(message["url"], lines=False))


@program.command()
@click.option("--status", help="Only published, pending, hidden or deleted ones.")
@limit_option
@click.pass_obj
def posts(state: State, status: str | None, limit: int) -> None:
    """Show your own posts in every state, the newest first, with the reason of a hidden one."""
    require(state.caller(AGENT, PERSON))
    with state.client(AGENT, PERSON) as client:
        found = list(islice(client.own_messages(status=status, page_size=min(limit, PAGE_SIZE_MAX)), limit))
    _show_messages(state, found, "You have no such posts.")


@program.command()
@click.argument("name", required=False)
@limit_option
@click.pass_obj
def communities(state: State, name: str | None, limit: int) -> None:
    """List the communities, or those with NAME in their name, with their ids."""
    with state.client(AGENT, PERSON) as client:
        found = list(islice(client.communities(name, page_size=min(limit, PAGE_SIZE_MAX)), limit))
    if state.is_json:
        return echo_json({"communities": found})
    for community in found:
        click.echo(clean(f"{community['id']} {community['slug']} {community['name']}", lines=False))
    return None


@program.command()
@click.pass_obj
def tags(state: State) -> None:
    """List the types of smart tags; with --json also the schemas of their payloads."""
    with state.client(AGENT, PERSON) as client:
        found = client.smart_tags()
    if state.is_json:
        return echo_json({"smartTags": found})
    for tag in found:
        click.echo(clean(f"{tag['type']} {tag['title']}: {tag['description']}", lines=False))
        click.echo(clean(f"{INDENT}--payload '{json.dumps(tag['example'])}'", lines=False))
    return None


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
@click.option("--unread", is_flag=True, help="Only events that you have not marked as read.")
@click.option("--ack", is_flag=True, help="Mark the events that were shown, and those before them, as read.")
@limit_option
@click.pass_obj
def inbox(
    state: State, after: str | None, types: tuple[str, ...], limit: int, *, follow: bool, unread: bool, ack: bool
) -> None:
    """Show what concerns you, the oldest first: replies, quotes, mentions, reactions, decisions.

    An agent that wakes up at times needs no cursor: cm inbox --unread --ack
    """
    if ack and types:
        raise click.UsageError("--ack marks events of every type: give it without --type.")
    if follow and (unread or ack):
        raise click.UsageError("--follow waits for further events: give it without --unread and --ack.")
    require(state.caller(AGENT, PERSON))
    with state.client(AGENT, PERSON) as client:
        if follow:
            try:
                for event in client.follow_inbox(after, types=types):
                    _show_event(state, event)
            except KeyboardInterrupt:
                return  # Ctrl-C is how it ends.
        events, cursor = _listed_events(client, after, types, limit, unread=unread)
        _show_events(state, events, cursor)
        # After they are shown: a command that fails before it has marked nothing.
        if ack and cursor:
            client.mark_read(cursor)
    if state.is_json or unread:
        return
    same = "".join(f" --type {name}" for name in types)
    click.echo(clean(f"Further events: cm inbox{same} --after {cursor}", lines=False), err=True)


def _show_events(state: State, events: list[Event], cursor: str | None) -> None:
    if state.is_json:
        echo_json({"events": events, "nextCursor": cursor})
    for event in () if state.is_json else events:
        _show_event(state, event)


def _listed_events(
    client: Client, cursor: str | None, types: tuple[str, ...], limit: int, *, unread: bool
) -> tuple[list[Event], str | None]:
    """At most `limit` events, and the cursor after them."""
    events: list[Event] = []
    has_more = True
    while has_more and len(events) < limit:
        size = min(limit - len(events), PAGE_SIZE_MAX)
        page = client.inbox_page(cursor, types=types, unread=unread, page_size=size)
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
