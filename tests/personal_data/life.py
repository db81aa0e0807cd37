"""A person who has stored a row of every kind, with texts that are nowhere else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.contrib.admin.models import LogEntry
from django.test import Client
from django.utils import timezone

from agents.services import freeze_agent, reject_request, revoke_agent_tokens
from embeds.models import Embed, Sighting
from embeds.services import disable_embed
from kernel.admin.audit import log_decision
from mails.kinds import Frequency, Kind
from mails.preferences import set_preferences
from messaging.communities.bans import ban_account
from messaging.communities.services import create_community
from messaging.models import Account, Message, SavedList
from messaging.moderation.bulk_jobs import record_job
from messaging.moderation.services import hide_message, restore_message
from tests.agents.factories import RequestFactory, TokenHolder, agent_with_token
from tests.api import Api
from tests.embeds.making import an_embed, send
from tests.factories import CommunityFactory, MessageFactory, PageFactory, PersonFactory, SuperAdminFactory
from tests.panel_sessions import panel_secret
from tests.webhooks.making import GLOBAL_URL

HANDLE, NAME, PASSWORD = "quenby_zorn", "Quenby Zornfeld", "correct horse battery"
AGENT_HANDLE, AGENT_NAME = "zornbot_7", "Zornbot Maximus"
# In each text of the person and the agents, and in no other.
MARK = "xylographic"
# Besides MARK: what must not be found after an erasure.
TRACES = (HANDLE, HANDLE.title(), HANDLE.upper(), NAME, "Zornfeld", AGENT_HANDLE, AGENT_NAME)


@dataclass
class Life:
    person: Account
    agent: TokenHolder
    boss: Account
    other: Account
    # Of the other person: `answered` by the person, `answers` to the person's `asked`.
    asked: Message
    answered: Message
    answer: Message
    alone: UUID
    embed: Embed

    @property
    def api(self) -> Api:
        return Api.as_person(self.person)


def posted(api: Api, content: str, **fields: Any) -> Message:
    page = fields.pop("page", None) or PageFactory()
    answer = api.post("/api/messages", {"pageId": page.pk, "content": content, **fields})
    assert answer.status == 201, answer.json
    return Message.objects.get(pk=answer.json["id"])


def sign_in_data(person: Account) -> None:
    """A mail address, recovery codes, and an account at a provider."""
    address = f"{HANDLE}@{MARK}.example"
    EmailAddress.objects.create(user=person, email=address, verified=True, primary=True)
    Authenticator.objects.create(user=person, type=Authenticator.Type.RECOVERY_CODES, data={"seed": MARK})
    SocialAccount.objects.create(user=person, provider="oidc", uid=HANDLE, extra_data={"email": address, "name": NAME})
    set_preferences(account_id=person.pk, frequencies={Kind.ANSWER: Frequency.DAILY})


def moderate(person: Account, other: Account) -> None:
    """A community of the person, with a ban of the other person; and the person is banned from another community."""
    own = create_community(owner=person, name="Lighthouses")
    ban_account(community_id=own.pk, account_id=other.pk, by=person, reason=f"Reason {MARK}")
    hidden = MessageFactory(author=other, community=own)
    hide_message(message_id=hidden.pk, by=person, reason=f"Told {MARK}")
    theirs = create_community(owner=other, name="Harbours")
    ban_account(community_id=theirs.pk, account_id=person.pk, by=other, reason=f"Of {NAME}")


def name_handle(boss: Account, other: Account) -> None:
    """Decisions about others, and a list of the admin, that name the handle."""
    agent = agent_with_token(requester=other)
    freeze_agent(agent=agent.agent, by=boss, reason=f"See @{HANDLE.title()}")
    hide_message(message_id=MessageFactory(author=other).pk, by=boss, reason=f"Unlike @{HANDLE.upper()}.")
    revoke_agent_tokens(agent=agent.agent, by=boss, reason=f"Also @{HANDLE}")
    reject_request(request_id=RequestFactory(requester=other).pk, by=boss, reason=f"As @{HANDLE} asked.")
    theirs = create_community(owner=other, name="Lagoons")
    ban_account(community_id=theirs.pk, account_id=PersonFactory().pk, by=other, reason=f"A friend of @{HANDLE}")
    reason = f"Like @{HANDLE}, again"
    record_job(kind="messaging.message:hide", label="Hide 2 posts", changed={}, by=boss, reason=reason)
    for number, search in enumerate((f"%40{HANDLE}", f"words+%40{HANDLE.title()}", f"@{HANDLE}&status__exact=hidden")):
        SavedList.objects.create(account=boss, of="messaging.message", name=f"{number}", query=f"all=&q={search}")
    SavedList.objects.create(account=boss, of="messaging.message", name=f"Of @{HANDLE}")
    SavedList.objects.create(account=boss, of="messaging.account", name="people", query=f"all=&q={HANDLE}")


def live(settings: Any) -> Life:
    settings.WEBHOOKS = True
    person = PersonFactory(handle=HANDLE, name=NAME, password=PASSWORD)
    boss, other = SuperAdminFactory(), PersonFactory(handle="bystander", name="By Stander")
    api, other_api = Api.as_person(person), Api.as_person(other)
    asked = posted(api, f"A question, {MARK}")
    answered = posted(other_api, "An opinion", page=asked.page)
    answer = posted(other_api, "An answer", page=asked.page, parentId=str(asked.pk))
    posted(api, f"A reply {MARK}", page=asked.page, parentId=str(answered.pk))
    posted(other_api, "Quoting", page=asked.page, quoteId=str(asked.pk))
    alone = posted(api, f"Alone {MARK} one", communityId=str(CommunityFactory().pk))
    assert api.put(f"/api/messages/{alone.pk}", {"content": f"Alone {MARK} two"}).status == 200
    deleted = posted(api, f"Deleted {MARK}")
    assert api.delete(f"/api/messages/{deleted.pk}").status == 200
    hide_message(message_id=alone.pk, by=boss, reason=f"Bad words of {NAME}")
    restore_message(message_id=alone.pk, by=boss)
    assert api.post("/v1/reactions", {"messageId": str(answer.pk), "emoji": "🎉"}).status == 200
    note = {"reason": "other", "note": f"A note {MARK}"}
    assert api.post(f"/api/messages/{answered.pk}/report", note).status == 200
    agent = agent_with_token(requester=person, agent_handle=AGENT_HANDLE, agent_name=AGENT_NAME)
    posted(agent.api, f"Of an agent {MARK}", page=asked.page, parentId=str(answer.pk))
    assert agent.api.post("/v1/reactions", {"messageId": str(answered.pk), "emoji": "👍"}).status == 200
    assert agent.api.post("/v1/webhooks", {}).status == 403
    RequestFactory(
        requester=person, agent_handle="zornbot_8", agent_name=f"{MARK} bot", purpose=f"{MARK} and more words"
    )
    hook = {"url": f"{GLOBAL_URL}/{MARK}", "agentId": str(agent.account.pk)}
    assert api.post("/v1/webhooks", hook).status == 201
    embed = an_embed(person, name=f"Site {MARK}", description=MARK, domain_whitelist=[f"{MARK}.example"])
    Sighting.objects.create(embed_id=embed.pk, host=f"{MARK}.example", path=f"/{MARK}", is_refused=False)
    send(embed, "trigger_view", timezone.now(), path=f"/{MARK}")
    disable_embed(embed_id=embed.pk, by=boss, reason=f"About {MARK}")
    log_decision(by=boss, about=other, verb=f"Told about @{HANDLE}", reason="none")
    log_decision(by=person, about=other, verb="Looked at", reason="none")
    panel_secret(person)
    Client().force_login(person)
    sign_in_data(person)
    moderate(person, other)
    name_handle(boss, other)
    assert LogEntry.objects.filter(user=person).exists()
    return Life(person, agent, boss, other, asked, answered, answer, alone.pk, embed)
