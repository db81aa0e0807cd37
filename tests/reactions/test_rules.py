"""Sequential calls, compared with a model: {(account, post): emoji}."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from kernel.api.credentials import Credential, CredentialKind
from kernel.api.exceptions import NotOwner
from kernel.api.ids import new_id
from kernel.writes.transaction import write_transaction
from messaging.models import AccountKind, Message
from reactions.exceptions import ReactionNotFound
from reactions.models import Reaction
from reactions.services import remove_reaction, set_reaction, toggle_reaction
from tests.factories import AgentAccountFactory, MessageFactory, PersonFactory
from tests.reactions.counts import counted

EMOJI = ["👍", "❤️", ":+1:", "'", '"', "{}"]
WHO, WHERE = st.integers(0, 3), st.integers(0, 1)


class Reacting(RuleBasedStateMachine):
    @initialize()
    def begin(self) -> None:
        self.accounts = [PersonFactory(), PersonFactory(), AgentAccountFactory(), AgentAccountFactory()]
        self.posts: list[Message] = [MessageFactory(), MessageFactory()]
        self.emoji_by: dict[tuple[int, int], str] = {}
        self.ids: dict[tuple[int, int], Any] = {}
        self.removed_id = new_id()

    @rule(who=WHO, where=WHERE, emoji=st.sampled_from(EMOJI))
    def set(self, who: int, where: int, emoji: str) -> None:
        before = self.emoji_by.get((who, where))
        with write_transaction() as transaction:
            outcome = set_reaction(
                auth=self._credential(who), transaction=transaction, message_id=self.posts[where].pk, emoji=emoji
            )
        assert outcome.action == ("added" if before is None else "unchanged" if before == emoji else "replaced")
        self._check_and_update(who, where, emoji, outcome)

    @rule(who=WHO, where=WHERE, emoji=st.sampled_from(EMOJI))
    def toggle(self, who: int, where: int, emoji: str) -> None:
        before = self.emoji_by.get((who, where))
        with write_transaction() as transaction:
            outcome = toggle_reaction(
                auth=self._credential(who), transaction=transaction, message_id=self.posts[where].pk, emoji=emoji
            )
        assert outcome.action == ("added" if before is None else "removed" if before == emoji else "replaced")
        self._check_and_update(who, where, None if before == emoji else emoji, outcome)

    @rule(who=WHO, where=WHERE)
    def remove(self, who: int, where: int) -> None:
        reaction_id = self.ids.get((who, where), self.removed_id)
        if (who, where) not in self.emoji_by:
            with pytest.raises(ReactionNotFound), write_transaction() as transaction:
                remove_reaction(auth=self._credential(who), transaction=transaction, reaction_id=reaction_id)
            return
        with write_transaction() as transaction:
            outcome = remove_reaction(auth=self._credential(who), transaction=transaction, reaction_id=reaction_id)
        assert outcome.action == "removed"
        self.removed_id = reaction_id
        self._check_and_update(who, where, None, outcome)

    @rule(who=WHO, owner=WHO, where=WHERE)
    def remove_reaction_of_another(self, who: int, owner: int, where: int) -> None:
        if who != owner and (owner, where) in self.emoji_by:
            with pytest.raises(NotOwner), write_transaction() as transaction:
                remove_reaction(auth=self._credential(who), transaction=transaction, reaction_id=self.ids[owner, where])

    @invariant()
    def counts_equal_the_model(self) -> None:
        for where, post in enumerate(getattr(self, "posts", [])):
            assert counted(post) == Counter(emoji for (_who, place), emoji in self.emoji_by.items() if place == where)

    def _credential(self, who: int) -> Credential:
        account = self.accounts[who]
        is_agent = account.kind == AccountKind.AGENT
        return Credential(kind=CredentialKind.AGENT if is_agent else CredentialKind.PERSON, user=account)

    def _check_and_update(self, who: int, where: int, emoji: str | None, outcome: Any) -> None:
        """Update the model and compare the outcome with it."""
        before = self.emoji_by.pop((who, where), None)
        last_id = self.ids.pop((who, where), None)
        if emoji is not None:
            self.emoji_by[who, where] = emoji
            self.ids[who, where] = outcome.reaction_id
            assert Reaction.objects.filter(pk=outcome.reaction_id, account=self.accounts[who]).exists()
        assert (outcome.reaction_id is None) == (emoji is None)
        assert last_id is None or outcome.reaction_id in {None, last_id}
        on_post = [current for (_who, place), current in self.emoji_by.items() if place == where]
        assert (outcome.count, outcome.total) == (on_post.count(emoji or before or ""), len(on_post))


class TestReacting(Reacting.TestCase, TestCase):  # type: ignore[name-defined,misc]
    settings = settings(max_examples=5, stateful_step_count=20, deadline=None)
