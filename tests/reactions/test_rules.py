"""The sequential rules, against a model: a dict of who reacts to what with which emoji."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from config.api.credentials import Credential, CredentialKind
from config.api.ids import new_id
from config.writes.transaction import write_transaction
from messaging.models import AccountKind, Message
from reactions.exceptions import NotOwner, ReactionNotFound
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
        self.held: dict[tuple[int, int], str] = {}
        self.ids: dict[tuple[int, int], Any] = {}
        self.gone = new_id()

    @rule(who=WHO, where=WHERE, emoji=st.sampled_from(EMOJI))
    def set(self, who: int, where: int, emoji: str) -> None:
        before = self.held.get((who, where))
        with write_transaction() as transaction:
            outcome = set_reaction(
                auth=self._credential(who), transaction=transaction, message_id=self.posts[where].pk, emoji=emoji
            )
        assert outcome.action == ("added" if before is None else "unchanged" if before == emoji else "replaced")
        self._now(who, where, emoji, outcome)

    @rule(who=WHO, where=WHERE, emoji=st.sampled_from(EMOJI))
    def toggle(self, who: int, where: int, emoji: str) -> None:
        before = self.held.get((who, where))
        with write_transaction() as transaction:
            outcome = toggle_reaction(
                auth=self._credential(who), transaction=transaction, message_id=self.posts[where].pk, emoji=emoji
            )
        assert outcome.action == ("added" if before is None else "removed" if before == emoji else "replaced")
        self._now(who, where, None if before == emoji else emoji, outcome)

    @rule(who=WHO, where=WHERE)
    def remove(self, who: int, where: int) -> None:
        reaction_id = self.ids.get((who, where), self.gone)
        if (who, where) not in self.held:
            with pytest.raises(ReactionNotFound), write_transaction() as transaction:
                remove_reaction(auth=self._credential(who), transaction=transaction, reaction_id=reaction_id)
            return
        with write_transaction() as transaction:
            outcome = remove_reaction(auth=self._credential(who), transaction=transaction, reaction_id=reaction_id)
        assert outcome.action == "removed"
        self.gone = reaction_id
        self._now(who, where, None, outcome)

    @rule(who=WHO, whose=WHO, where=WHERE)
    def remove_anothers(self, who: int, whose: int, where: int) -> None:
        if who != whose and (whose, where) in self.held:
            with pytest.raises(NotOwner), write_transaction() as transaction:
                remove_reaction(auth=self._credential(who), transaction=transaction, reaction_id=self.ids[whose, where])

    @invariant()
    def counts_are_the_models(self) -> None:
        for where, post in enumerate(getattr(self, "posts", [])):
            assert counted(post) == Counter(emoji for (_who, place), emoji in self.held.items() if place == where)

    def _credential(self, who: int) -> Credential:
        account = self.accounts[who]
        is_agent = account.kind == AccountKind.AGENT
        return Credential(kind=CredentialKind.AGENT if is_agent else CredentialKind.PERSON, user=account)

    def _now(self, who: int, where: int, emoji: str | None, outcome: Any) -> None:
        """Move the model on, and hold the outcome's numbers against it."""
        before = self.held.pop((who, where), None)
        last_id = self.ids.pop((who, where), None)
        if emoji is not None:
            self.held[who, where] = emoji
            self.ids[who, where] = outcome.reaction_id
            assert Reaction.objects.filter(pk=outcome.reaction_id, account=self.accounts[who]).exists()
        assert (outcome.reaction_id is None) == (emoji is None)
        assert last_id is None or outcome.reaction_id in {None, last_id}
        held = [held for (_who, place), held in self.held.items() if place == where]
        assert (outcome.count, outcome.total) == (held.count(emoji or before or ""), len(held))


class TestReacting(Reacting.TestCase, TestCase):  # type: ignore[name-defined,misc]
    settings = settings(max_examples=15, stateful_step_count=25, deadline=None)
