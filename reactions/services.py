"""Adds, replaces and removes the reactions of a caller, with the counts on the post."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from kernel.api.credentials import Credential
from kernel.api.exceptions import NotOwner
from kernel.api.ids import new_id
from kernel.database.sql import execute, fetch_one
from kernel.writes.transaction import WriteTransaction
from messaging.cache_tags import invalidate_message
from messaging.communities.bans import open_community
from messaging.communities.content_rules import Draft, content_rules
from messaging.models import Community, Message
from messaging.moderation.exceptions import BannedFromCommunity
from messaging.posts.exceptions import CommunityForbids, MessageNotFound
from reactions import queries
from reactions.changes import Changed, record_reaction
from reactions.emoji import is_shortcode, words_of
from reactions.exceptions import ReactionNotFound, TooManyEmoji
from reactions.models import Action, Outcome, ReactionState

# The post stores a count per emoji, so their number is limited; concurrent calls may exceed the limit by a few.
EMOJI_KINDS_MAX = 100


def set_reaction(*, auth: Credential, transaction: WriteTransaction, message_id: UUID, emoji: str) -> Outcome:
    """Set the account's reaction to `emoji` (in the spelling of `one_emoji`): added, replaced or unchanged.

    Raises MessageNotFound (404), AgentCommunityNotAllowed, BannedFromCommunity or CommunityForbids (403), TooManyEmoji
    (409), ContentBlocked (422) for a shortcode with a blocked word, AgentRateLimited (429).
    """
    return _apply(auth, transaction, message_id, emoji, toggles=False)


def toggle_reaction(*, auth: Credential, transaction: WriteTransaction, message_id: UUID, emoji: str) -> Outcome:
    """The same, but remove the reaction if it has that emoji already, which no ban and no `readOnly` refuses.

    Raises as `set_reaction` does.
    """
    return _apply(auth, transaction, message_id, emoji, toggles=True)


def remove_reaction(*, auth: Credential, transaction: WriteTransaction, reaction_id: UUID) -> Outcome:
    """Remove the account's own reaction, even from a hidden post.

    Raises ReactionNotFound (404), NotOwner or AgentCommunityNotAllowed (403), AgentRateLimited (429).
    """
    _lock(auth, transaction)
    message_id, current = _owned(auth, reaction_id)
    transaction.consume()
    while (outcome := _remove(transaction, auth.user.pk, message_id, reaction_id, current)) is None:
        message_id, current = _owned(auth, reaction_id)
    return outcome


def require_community_of(*, auth: Credential, message_id: UUID) -> None:
    """Raises AgentCommunityNotAllowed (403) if the agent may not write in the community of the post."""
    if auth.community_ids:
        auth.require_community(Message.objects.filter(pk=message_id).values_list("community_id", flat=True).first())


def _apply(auth: Credential, transaction: WriteTransaction, message_id: UUID, emoji: str, *, toggles: bool) -> Outcome:
    """Check, charge the limit, then repeat the change until no concurrent statement changes the state first."""
    _lock(auth, transaction)
    state = _state(auth, message_id, emoji, toggles=toggles)
    transaction.consume()
    while (outcome := _change(transaction, state)) is None:
        state = _state(auth, message_id, emoji, toggles=toggles)
    return outcome


def _lock(auth: Credential, transaction: WriteTransaction) -> None:
    """A statement of its own, so that the next one sees what was committed during the wait."""
    if not transaction.charge.limits:
        execute(queries.LOCK, {"account": auth.user.pk})


def _change(transaction: WriteTransaction, state: ReactionState) -> Outcome | None:
    """None if the row differs from the state."""
    if state.reaction_id is None or not state.is_repeat:
        return _put(transaction, state)
    if state.is_removal:
        return _remove(transaction, state.account_id, state.message_id, state.reaction_id, state.emoji)
    return Outcome(Action.UNCHANGED, state.count, state.total, state.reaction_id)


def _put(transaction: WriteTransaction, state: ReactionState) -> Outcome | None:
    values = {"message": state.message_id, "account": state.account_id, "emoji": state.emoji}
    if state.reaction_id is None:
        values |= {"reaction": new_id()}
        return _outcome(transaction, Action.ADDED, queries.ADD, values)
    values |= {"reaction": state.reaction_id, "current": state.current}
    return _outcome(transaction, Action.REPLACED, queries.REPLACE, values)


def _remove(
    transaction: WriteTransaction, account_id: UUID, message_id: UUID, reaction_id: UUID, current: str
) -> Outcome | None:
    values = {"message": message_id, "account": account_id, "reaction": reaction_id, "current": current}
    return _outcome(transaction, Action.REMOVED, queries.REMOVE, values)


def _outcome(transaction: WriteTransaction, action: Action, statement: str, values: dict[str, Any]) -> Outcome | None:
    row = fetch_one(statement, values)
    if row is None:
        return None
    changed = Changed(*row)
    invalidate_message(page_id=changed.page_id, message_id=values["message"])
    record_reaction(transaction, action, values, changed)
    return Outcome(action, changed.count, changed.total, None if action is Action.REMOVED else values["reaction"])


def _state(auth: Credential, message_id: UUID, emoji: str, *, toggles: bool) -> ReactionState:
    account_id = auth.user.pk
    values = {"message": message_id, "account": account_id, "emoji": emoji, "banned_with": auth.banned_with}
    row = fetch_one(queries.STATE, values)
    if row is None:
        raise MessageNotFound(field="messageId")
    community_id, read_only, is_banned, reaction_id, current, count, total, kinds = row
    auth.require_community(community_id)
    state = ReactionState(message_id, account_id, emoji, reaction_id, current, count, total, toggles)
    if state.is_removal:
        return state
    if is_banned:
        raise BannedFromCommunity
    if read_only:
        name = Community.objects.values_list("name", flat=True).get(pk=community_id)
        raise CommunityForbids(f"`readOnly` is on in {name}: nobody may react there.", rule="readOnly")
    if not count and kinds >= EMOJI_KINDS_MAX:
        raise TooManyEmoji(max=EMOJI_KINDS_MAX)
    if not count and community_id is not None and is_shortcode(emoji):
        _refuse_blocked(auth, message_id, community_id, emoji)
    return state


def _refuse_blocked(auth: Credential, message_id: UUID, community_id: UUID, emoji: str) -> None:
    """Raises ContentBlocked (422): the words of a shortcode that the post has not yet are text that all readers see."""
    url = Message.objects.values_list("page__normalized_url", flat=True).get(pk=message_id)
    draft = Draft({"content": words_of(emoji), "community_id": community_id}, author_kind=auth.user.kind)
    draft.community = open_community(community_id=community_id, auth=auth, page_url=url, source_embed=None)
    for rule in content_rules():
        rule.check(draft)


def _owned(auth: Credential, reaction_id: UUID) -> tuple[UUID, str]:
    """(message id, emoji) of the account's reaction."""
    row = fetch_one(queries.OWNED, {"reaction": reaction_id})
    if row is None:
        raise ReactionNotFound
    account_id, message_id, current, community_id = row
    if account_id != auth.user.pk:
        raise NotOwner
    auth.require_community(community_id)
    return message_id, current
