"""The authorisation table: one row per operation, one column per kind of caller, and the rows they act on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from embeds.models import HostProof
from embeds.site_accounts.keys import rotate_secret
from messaging.accounts.sessions import start_session
from messaging.models import Account, Ban, ClosedPage, HiddenHere, Moderator, Pin
from oauth import device_grants
from tests.agents.factories import RequestFactory, agent_with_token
from tests.api import Api
from tests.embeds.making import an_embed
from tests.embeds.site_tokens import EXCHANGE, Site
from tests.factories import CommunityFactory, MessageFactory, PageFactory, PersonFactory, SuperAdminFactory
from tests.oauth.consents import program_let_in
from tests.panel_sessions import panel_headers, panel_secret
from tests.webhooks.making import GLOBAL_URL, a_webhook

PASSWORD = "a long enough passphrase"

# `person` operates `agent` and moderates the community; `owner` owns the embed and sends a sign-in token. `agent2`,
# `person2` and `owner2` own neither. `scopeless` is an agent without the scope of the operation.
# anon: 401 not_authenticated. bad: 401 invalid_token. deny: 403 agent_route_not_allowed. scope: 403
# agent_scope_missing. own: 403 not_owner. author: 403 not_author. cursor: 400 invalid_cursor.
# admin: 403 super_admin_required. mod: 403 moderator_required. ok: success.
TABLE = """
operation             nobody  bad  scopeless agent  agent2 person  person2 owner  owner2 super  super_jwt
listMessages          ok      bad  ok        ok     ok     ok      ok     ok     ok     ok     ok
getMessage            ok      bad  ok        ok     ok     ok      ok     ok     ok     ok     ok
createMessage         anon    bad  scope     ok     ok     ok      ok     bad    bad    ok     bad
checkMessage          anon    bad  scope     ok     ok     ok      ok     bad    bad    ok     bad
editMessage           anon    bad  scope     ok     author author  author  bad    bad    author bad
deleteMessage         anon    bad  scope     ok     author author  author  bad    bad    author bad
reportMessage         anon    bad  deny      deny   deny   ok      ok     bad    bad    ok     bad
searchMessages        ok      bad  ok        ok     ok     ok      ok     ok     ok     ok     ok
listReactions         ok      bad  ok        ok     ok     ok      ok     ok     ok     ok     ok
listOwnReactions      anon    bad  ok        ok     ok     ok      ok     bad    bad    ok     bad
addReaction           anon    bad  scope     ok     ok     ok      ok     bad    bad    ok     bad
removeReaction        anon    bad  scope     ok     own    own     own    bad    bad    own    bad
listChanges           ok      bad  ok        ok     ok     ok      ok     ok     ok     ok     ok
listInbox             anon    bad  ok        ok     ok     ok      ok     bad    bad    ok     bad
readInbox             anon    bad  cursor    cursor cursor ok      cursor bad    bad    cursor bad
listOwnMessages       anon    bad  ok        ok     ok     ok      ok     bad    bad    ok     bad
getPulse              anon    bad  ok        ok     ok     ok      ok     bad    bad    ok     bad
normalizeUrl          ok      bad  ok        ok     ok     ok      ok     ok     ok     ok     ok
getPresenceCounts     ok      bad  ok        ok     ok     ok      ok     ok     ok     ok     ok
listParticipants      ok      bad  ok        ok     ok     ok      ok     ok     ok     ok     ok
getImportedPost       ok      bad  ok        ok     ok     ok      ok     ok     ok     ok     ok
listCommunities       ok      bad  ok        ok     ok     ok      ok     ok     ok     ok     ok
getCommunity          ok      bad  ok        ok     ok     ok      ok     ok     ok     ok     ok
getDiscussion         ok      bad  ok        ok     ok     ok      ok     ok     ok     ok     ok
createCommunity       anon    bad  deny      deny   deny   ok     ok      bad    bad    ok     bad
listModerationQueue   anon    bad  deny      deny   deny   ok     mod     bad    bad    ok     bad
getOwnModeration      anon    bad  deny      deny   deny   ok     ok      bad    bad    ok     bad
approveMessage        anon    bad  deny      deny   deny   ok     mod     bad    bad    ok     bad
hideMessage           anon    bad  deny      deny   deny   ok     mod     bad    bad    ok     bad
restoreMessage        anon    bad  deny      deny   deny   ok     mod     bad    bad    ok     bad
pinMessage            anon    bad  deny      deny   deny   ok     mod     bad    bad    ok     bad
unpinMessage          anon    bad  deny      deny   deny   ok     mod     bad    bad    ok     bad
closeDiscussion       anon    bad  deny      deny   deny   ok     mod     bad    bad    ok     bad
reopenDiscussion      anon    bad  deny      deny   deny   ok     mod     bad    bad    ok     bad
updateCommunity       anon    bad  deny      deny   deny   ok     mod     bad    bad    ok     bad
addModerator          anon    bad  deny      deny   deny   ok     mod     bad    bad    ok     bad
removeModerator       anon    bad  deny      deny   deny   ok     mod     bad    bad    ok     bad
banAccount            anon    bad  deny      deny   deny   ok     mod     bad    bad    ok     bad
liftBan               anon    bad  deny      deny   deny   ok     mod     bad    bad    ok     bad
listHiddenHere        anon    bad  deny      deny   deny   ok     mod     bad    bad    ok     bad
hideHere              anon    bad  deny      deny   deny   ok     mod     bad    bad    ok     bad
showHere              anon    bad  deny      deny   deny   ok     mod     bad    bad    ok     bad
listHosts             anon    bad  deny      deny   deny   ok     mod     bad    bad    ok     bad
addHost               anon    bad  deny      deny   deny   ok     mod     bad    bad    ok     bad
checkHost             anon    bad  deny      deny   deny   ok     mod     bad    bad    ok     bad
removeHost            anon    bad  deny      deny   deny   ok     mod     bad    bad    ok     bad
listCommunityEmbeds   anon    bad  deny      deny   deny   ok     mod     bad    bad    ok     bad
endCommunityEmbed     anon    bad  deny      deny   deny   ok     mod     bad    bad    ok     bad
listSmartTags         ok      bad  ok        ok     ok     ok      ok     ok     ok     ok     ok
getPageAtomFeed       ok      bad  ok        ok     ok     ok      ok     ok     ok     ok     ok
getPageJsonFeed       ok      bad  ok        ok     ok     ok      ok     ok     ok     ok     ok
getCommunityAtomFeed  ok      bad  ok        ok     ok     ok      ok     ok     ok     ok     ok
getCommunityJsonFeed  ok      bad  ok        ok     ok     ok      ok     ok     ok     ok     ok
getAgent              ok      bad  ok        ok     ok     ok      ok     ok     ok     ok     ok
deleteAgent           anon    bad  deny      deny   deny   ok      404    bad    bad    404    bad
getAgentSelf          anon    bad  ok        ok     ok     bad     bad    bad    bad    bad    bad
listAgentTokens       anon    bad  deny      deny   deny   ok      ok     bad    bad    ok     bad
listAllTokens         anon    bad  deny      deny   deny   admin   admin  bad    bad    ok     bad
revokeAgentToken      anon    bad  deny      deny   deny   ok      404    bad    bad    ok     bad
rotateAgentToken      anon    bad  deny      deny   deny   ok      404    bad    bad    404    bad
createAgentToken      anon    bad  deny      deny   deny   ok      404    bad    bad    404    bad
setAgentReview        anon    bad  deny      deny   deny   ok      404    bad    bad    404    bad
listAgentDrafts       anon    bad  deny      deny   deny   ok      404    bad    bad    404    bad
releaseDraft          anon    bad  deny      deny   deny   ok      404    bad    bad    404    bad
rejectDraft           anon    bad  deny      deny   deny   ok      404    bad    bad    404    bad
requestAgent          anon    bad  deny      deny   deny   ok      ok     bad    bad    ok     bad
listAgentRequests     anon    bad  deny      deny   deny   ok      ok     bad    bad    ok     bad
getAgentRequest       anon    bad  deny      deny   deny   ok      404    bad    bad    ok     bad
listAllRequests       anon    bad  deny      deny   deny   admin   admin  bad    bad    ok     bad
approveAgentRequest   anon    bad  deny      deny   deny   admin   admin  bad    bad    ok     bad
rejectAgentRequest    anon    bad  deny      deny   deny   admin   admin  bad    bad    ok     bad
cancelAgentRequest    anon    bad  deny      deny   deny   ok      404    bad    bad    404    bad
createWebhook         anon    bad  deny      deny   deny   ok      404    bad    bad    404    bad
listWebhooks          anon    bad  deny      deny   deny   ok      ok     bad    bad    ok     bad
getWebhook            anon    bad  deny      deny   deny   ok      404    bad    bad    404    bad
testWebhook           anon    bad  deny      deny   deny   ok      404    bad    bad    404    bad
rotateWebhookSecret   anon    bad  deny      deny   deny   ok      404    bad    bad    404    bad
deleteWebhook         anon    bad  deny      deny   deny   ok      404    bad    bad    404    bad
getEmbedConfig        ok      bad  ok        ok     ok     ok      ok     ok     ok     ok     ok
getEmbedClientConfig  ok      bad  ok        ok     ok     ok      ok     ok     ok     ok     ok
ingestAnalyticsEvent  ok      bad  ok        ok     ok     ok      ok     ok     ok     ok     ok
createEmbedInstance   anon    bad  deny      deny   deny   bad     bad    ok     ok     bad    ok
listEmbedInstances    anon    bad  deny      deny   deny   bad     bad    ok     ok     bad    ok
getEmbedInstance      anon    bad  deny      deny   deny   bad     bad    ok     own    bad    own
updateEmbedInstance   anon    bad  deny      deny   deny   bad     bad    ok     own    bad    own
deleteEmbedInstance   anon    bad  deny      deny   deny   bad     bad    ok     own    bad    own
getEmbedAnalytics     anon    bad  deny      deny   deny   bad     bad    ok     own    bad    own
getEmbedBlacklist     anon    bad  deny      deny   deny   bad     bad    ok     own    bad    own
putEmbedBlacklist     anon    bad  deny      deny   deny   bad     bad    ok     own    bad    own
rotateSiteSecret      anon    bad  deny      deny   deny   bad     bad    ok     own    bad    own
deleteSiteSecret      anon    bad  deny      deny   deny   bad     bad    ok     own    bad    own
getSiteTokenCheck     anon    bad  deny      deny   deny   bad     bad    ok     own    bad    own
exchangeSiteToken     ok      bad  deny      deny   deny   ok      ok     ok     ok     ok     ok
register              ok      bad  deny      deny   deny   ok      ok     ok     ok     ok     ok
login                 ok      bad  deny      deny   deny   ok      ok     ok     ok     ok     ok
refreshSession        ok      bad  deny      deny   deny   ok      ok     ok     ok     ok     ok
logout                ok      bad  deny      deny   deny   ok      ok     ok     ok     ok     ok
logoutAll             anon    bad  deny      deny   deny   bad     bad    ok     ok     bad    ok
getMe                 anon    bad  deny      deny   deny   bad     bad    ok     ok     bad    ok
createEmbedToken      anon    bad  deny      deny   deny   bad     bad    ok     ok     bad    ok
createDeviceCode      ok      bad  deny      deny   deny   ok      ok     ok     ok     ok     ok
createToken           ok      bad  deny      deny   deny   ok      ok     ok     ok     ok     ok
createClient          ok      bad  deny      deny   deny   ok      ok     ok     ok     ok     ok
revokeClientToken     ok      bad  deny      deny   deny   ok      ok     ok     ok     ok     ok
listPrograms          anon    bad  deny      deny   deny   ok      ok     bad    bad    ok     bad
revokeProgram         anon    bad  deny      deny   deny   ok      404    bad    bad    404    bad
createPanelSession    anon    bad  deny      deny   deny   bad     bad    ok     ok     bad    ok
createPanelToken      ok      bad  deny      deny   deny   ok      ok     ok     ok     ok     ok
endPanelSession       ok      bad  deny      deny   deny   ok      ok     ok     ok     ok     ok
streamChanges         ok      bad  ok        ok     ok     ok      ok     ok     ok     ok     ok
streamInbox           anon    bad  ok        ok     ok     ok      ok     bad    bad    ok     bad
mcp                   ok      bad  ok        ok     ok     ok      ok     ok     ok     ok     ok
"""
[_, *COLUMNS], *_LINES = map(str.split, TABLE.strip().splitlines())
ROWS = {name: cells for name, *cells in _LINES}


def confirmed_code(person: Account) -> dict[str, str]:
    """What a program sends that may sign in as this person."""
    grant, device_code, _user_code = device_grants.ask(client_name="cm", scope="account", network="")
    device_grants.confirm(grant_id=grant.pk, by=person)
    return {"grant_type": device_grants.GRANT_TYPE, "device_code": device_code}


@dataclass(frozen=True, slots=True)
class Call:
    method: str
    path: str
    body: Any = None
    scope: str = ""
    headers: dict[str, str] | None = None


class World:
    """Rows with owners, and a credential for each column."""

    def __init__(self) -> None:
        self.agent = agent_with_token()
        self.post = MessageFactory()
        self.written = MessageFactory(author=self.agent.account)
        self.draft = MessageFactory(
            author=self.agent.account, author_kind="agent", status="pending", operator_review="waiting"
        )
        self.community = CommunityFactory()
        self.moderators = [self._moderator(self.agent.request.requester), self._moderator(PersonFactory())]
        self.newcomer, self.banned = PersonFactory(), PersonFactory()
        Ban.objects.create(community=self.community, account=self.banned)
        HiddenHere.objects.create(community=self.community, message=self.written)
        HostProof.objects.create(community=self.community, host="blog.example", token="t")
        self.held, self.shown, self.hidden = (
            MessageFactory(community=self.community, status=status) for status in ("pending", "published", "hidden")
        )
        pinned = MessageFactory(community=self.community)
        self.pin = Pin.objects.create(message=pinned, page=pinned.page, community=self.community)
        self.closed = ClosedPage.objects.create(page=PageFactory(), community=self.community)
        self.owner, self.boss = PersonFactory(password=PASSWORD), SuperAdminFactory()
        self.embed = an_embed(self.owner)
        Moderator.objects.create(community=self.embed.community, account=self.owner)
        rotate_secret(embed_id=self.embed.pk, owner=self.owner)
        self.site = Site()
        self.foreign_embed = an_embed(community_id=self.community.pk)
        self.pending = RequestFactory(requester=self.agent.request.requester)
        self.refresh = start_session(account=self.owner).refresh
        self.panel_secret = panel_secret(self.owner)
        self.webhook = a_webhook(self.agent)
        self.program = program_let_in(self.agent.agent)[0]
        added = self.agent.api.post("/v1/reactions", {"messageId": str(self.post.pk), "emoji": "🎉"})
        self.reaction = added.json["reactionId"]
        # Of `person`: a cursor is bound to its account.
        self.inbox_cursor = self.agent.operator.get("/v1/inbox", tail="true").json["nextCursor"]

    def account_id(self, column: str) -> UUID:
        """The account of a column whose credential belongs to the same account at every call."""
        person = self.agent.request.requester
        accounts = {"agent": self.agent.account, "person": person, "owner": self.owner, "super": self.boss}
        return accounts[column].pk

    def caller(self, column: str, scope: str) -> Api:
        callers: dict[str, Callable[[], Api]] = {
            "nobody": Api,
            "bad": lambda: Api.as_agent(self.agent.value[:-1] + "!"),
            "scopeless": lambda: agent_with_token(scopes=["post" if scope == "react" else "react"]).api,
            "agent": lambda: self.agent.api,
            "agent2": lambda: agent_with_token().api,
            "person": lambda: Api.as_person(self.agent.request.requester),
            "person2": lambda: Api.as_person(PersonFactory()),
            # Read again: `logoutAll` revokes the tokens that were issued for the earlier state of the row.
            "owner": lambda: Api.as_signed_in(Account.objects.get(pk=self.owner.pk)),
            "owner2": lambda: Api.as_signed_in(PersonFactory()),
            "super": lambda: Api.as_person(self.boss),
            "super_jwt": lambda: Api.as_signed_in(self.boss),
        }
        return callers[column]()

    def permitted(self, row: str) -> Api:
        """The first caller of the table that may call it."""
        return self.caller(COLUMNS[ROWS[row].index("ok")], self.call(row).scope)

    def call(self, row: str) -> Call:
        request, embed = "/v1/agent-tokens/requests", f"/api/embeds/instances/{self.embed.pk}"
        approved, pending = f"{request}/{self.agent.request.pk}", f"{request}/{self.pending.pk}"
        own_agent, moderated = f"/v1/me/agents/{self.agent.agent.pk}", "/v1/moderation"
        of_community = f"{moderated}/communities/{self.community.pk}"
        new_embed = {"name": "E", "communityId": str(self.community.pk)}
        new_request = {
            "agentName": "New",
            "agentHandle": "a_new_one",
            "purpose": "Takes part in this test.",
            "scopes": ["post"],
        }
        calls = {
            "listMessages": Call("GET", f"/api/messages?pageId={self.post.page_id}"),
            "getMessage": Call("GET", f"/api/messages/{self.post.pk}"),
            "createMessage": Call("POST", "/api/messages", {"pageId": self.post.page_id, "content": "Hi"}, "post"),
            "checkMessage": Call("POST", "/api/messages/check", {"pageId": self.post.page_id, "content": "Hi"}, "post"),
            "editMessage": Call("PUT", f"/api/messages/{self.written.pk}", {"content": "Edited"}, "post"),
            "deleteMessage": Call("DELETE", f"/api/messages/{self.written.pk}", scope="post"),
            "reportMessage": Call("POST", f"/api/messages/{self.post.pk}/report", {"reason": "spam"}),
            "searchMessages": Call("GET", f"/v1/search?q=post&pageId={self.post.page_id}"),
            "listOwnReactions": Call("GET", f"/v1/me/reactions?pageId={self.post.page_id}"),
            "listReactions": Call("GET", f"/v1/reactions/{self.post.pk}"),
            "addReaction": Call("POST", "/v1/reactions", {"messageId": str(self.post.pk), "emoji": "👍"}, "react"),
            "removeReaction": Call("DELETE", f"/v1/reactions/{self.reaction}", scope="react"),
            "listChanges": Call("GET", f"/v1/changes?pageId={self.post.page_id}"),
            "listInbox": Call("GET", "/v1/inbox"),
            "readInbox": Call("POST", "/v1/inbox/read", {"cursor": self.inbox_cursor}),
            "listOwnMessages": Call("GET", "/v1/me/messages"),
            "getPulse": Call("GET", "/v1/me/pulse"),
            "normalizeUrl": Call("POST", "/v1/presence/normalize-url", {"url": "https://example.com"}),
            "getPresenceCounts": Call("POST", "/v1/presence/counts", {"urls": ["https://example.com"]}),
            "listParticipants": Call("GET", f"/v1/presence/participants?pageId={self.post.page_id}"),
            "getImportedPost": Call(
                "POST",
                "/v1/imported",
                {"embedId": str(self.embed.pk), "url": "https://example.com/", "anchor": "comment-501"},
            ),
            "listCommunities": Call("GET", "/v1/communities"),
            "getCommunity": Call("GET", f"/v1/communities/{self.community.pk}"),
            "getDiscussion": Call("GET", f"/v1/communities/{self.community.pk}/pages/{self.post.page_id}"),
            "createCommunity": Call("POST", "/v1/communities", {"name": "New"}),
            "listModerationQueue": Call("GET", f"/v1/moderation/queue?communityId={self.community.pk}"),
            "getOwnModeration": Call("GET", f"/v1/me/moderation?embedId={self.embed.pk}"),
            "approveMessage": Call("POST", f"{moderated}/messages/{self.held.pk}/approve", {}),
            "hideMessage": Call("POST", f"{moderated}/messages/{self.shown.pk}/hide", {}),
            "restoreMessage": Call("POST", f"{moderated}/messages/{self.hidden.pk}/restore", {}),
            "pinMessage": Call("POST", f"{moderated}/messages/{self.shown.pk}/pin", {}),
            "unpinMessage": Call("DELETE", f"{moderated}/messages/{self.pin.message_id}/pin"),
            "closeDiscussion": Call("POST", f"{of_community}/closed", {"pageId": self.post.page_id}),
            "reopenDiscussion": Call("DELETE", f"{of_community}/closed/{self.closed.page_id}"),
            "updateCommunity": Call("PUT", of_community, {"rules": {"readOnly": True}}),
            "addModerator": Call("POST", f"{of_community}/moderators", {"handle": self.newcomer.handle}),
            "removeModerator": Call("DELETE", f"{of_community}/moderators/{self.moderators[1].pk}"),
            "banAccount": Call("POST", f"{of_community}/bans", {"accountId": str(self.newcomer.pk), "reason": "Spam."}),
            "liftBan": Call("DELETE", f"{of_community}/bans/{self.banned.pk}"),
            "listHiddenHere": Call("GET", f"{of_community}/hidden"),
            "hideHere": Call("POST", f"{of_community}/hidden", {"messageId": str(self.post.pk)}),
            "showHere": Call("DELETE", f"{of_community}/hidden/{self.written.pk}"),
            "listHosts": Call("GET", f"{of_community}/hosts"),
            "addHost": Call("POST", f"{of_community}/hosts", {"host": "new.example"}),
            "checkHost": Call("POST", f"{of_community}/hosts/blog.example/check"),
            "removeHost": Call("DELETE", f"{of_community}/hosts/blog.example"),
            "listCommunityEmbeds": Call("GET", f"{of_community}/embeds"),
            "endCommunityEmbed": Call("POST", f"{of_community}/embeds/{self.foreign_embed.pk}/end", {}),
            "listSmartTags": Call("GET", "/v1/smart-tags"),
            "getPageAtomFeed": Call("GET", f"/feeds/pages/{self.post.page_id}.atom"),
            "getPageJsonFeed": Call("GET", f"/feeds/pages/{self.post.page_id}.json"),
            "getCommunityAtomFeed": Call("GET", f"/feeds/communities/{self.community.slug}.atom"),
            "getCommunityJsonFeed": Call("GET", f"/feeds/communities/{self.community.slug}.json"),
            "getAgent": Call("GET", f"/v1/agents/{self.agent.account.handle}"),
            "deleteAgent": Call("DELETE", f"/v1/agents/{self.agent.account.handle}"),
            "getAgentSelf": Call("GET", "/v1/agent/self"),
            "mcp": Call("POST", "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}),
            "setAgentReview": Call("PUT", own_agent, {"review": "all"}),
            "listAgentDrafts": Call("GET", f"{own_agent}/drafts"),
            "releaseDraft": Call("POST", f"{own_agent}/drafts/{self.draft.pk}/release", {}),
            "rejectDraft": Call("POST", f"{own_agent}/drafts/{self.draft.pk}/reject", {}),
            "listAgentTokens": Call("GET", "/v1/agent-tokens"),
            "listAllTokens": Call("GET", "/v1/agent-tokens?all=1"),
            "revokeAgentToken": Call("POST", f"/v1/agent-tokens/{self.agent.token.pk}/revoke", {}),
            "rotateAgentToken": Call("POST", f"/v1/agent-tokens/{self.agent.token.pk}/rotate", {}),
            "createAgentToken": Call("POST", f"{approved}/token", {}),
            "requestAgent": Call("POST", request, new_request),
            "listAgentRequests": Call("GET", request),
            "getAgentRequest": Call("GET", approved),
            "listAllRequests": Call("GET", f"{request}?all=1"),
            "approveAgentRequest": Call("POST", f"{pending}/approve", {}),
            "rejectAgentRequest": Call("POST", f"{pending}/reject", {}),
            "cancelAgentRequest": Call("POST", f"{pending}/cancel", {}),
            "createWebhook": Call("POST", "/v1/webhooks", {"url": GLOBAL_URL, "agentId": str(self.agent.account.pk)}),
            "listWebhooks": Call("GET", "/v1/webhooks"),
            "getWebhook": Call("GET", f"/v1/webhooks/{self.webhook.pk}"),
            "testWebhook": Call("POST", f"/v1/webhooks/{self.webhook.pk}/test"),
            "rotateWebhookSecret": Call("POST", f"/v1/webhooks/{self.webhook.pk}/rotate"),
            "deleteWebhook": Call("DELETE", f"/v1/webhooks/{self.webhook.pk}"),
            "getEmbedConfig": Call("GET", f"/api/embeds/config/{self.embed.pk}"),
            "getEmbedClientConfig": Call("GET", "/api/embeds/client-config"),
            "ingestAnalyticsEvent": Call("POST", "/api/embeds/analytics/events", self._event()),
            "createEmbedInstance": Call("POST", "/api/embeds/instances", new_embed),
            "listEmbedInstances": Call("GET", "/api/embeds/instances"),
            "getEmbedInstance": Call("GET", embed),
            "updateEmbedInstance": Call("PUT", embed, {"name": "Another"}),
            "deleteEmbedInstance": Call("DELETE", embed),
            "getEmbedAnalytics": Call("GET", f"/api/embeds/analytics/{self.embed.pk}"),
            "getEmbedBlacklist": Call("GET", f"{embed}/blacklist"),
            "putEmbedBlacklist": Call("PUT", f"{embed}/blacklist", {"domains": ["example.org"]}),
            "rotateSiteSecret": Call("POST", f"{embed}/site-secret"),
            "deleteSiteSecret": Call("DELETE", f"{embed}/site-secret"),
            "getSiteTokenCheck": Call("POST", f"{embed}/site-token-check", {"token": "x"}),
            "exchangeSiteToken": Call("POST", EXCHANGE, self.site.body()),
            "register": Call("POST", "/api/auth/register", {"handle": "new", "name": "New", "password": PASSWORD}),
            "login": Call("POST", "/api/auth/login", {"handle": self.owner.handle, "password": PASSWORD}),
            "createDeviceCode": Call("POST", "/oauth/device_authorization", {"client_name": "cm", "scope": "account"}),
            "createToken": Call("POST", "/oauth/token", confirmed_code(self.owner)),
            "createClient": Call("POST", "/oauth/register", {"redirect_uris": ["https://example.com/cb"]}),
            "revokeClientToken": Call("POST", "/oauth/revoke", {"token": "x", "client_id": str(self.program.pk)}),
            "listPrograms": Call("GET", "/v1/me/programs"),
            "revokeProgram": Call("DELETE", f"/v1/me/programs/{self.program.pk}"),
            "refreshSession": Call("POST", "/api/auth/refresh", {"refreshToken": self.refresh}),
            "logout": Call("POST", "/api/auth/logout", {"refreshToken": self.refresh}),
            "logoutAll": Call("POST", "/api/auth/logout-all"),
            "getMe": Call("GET", "/api/auth/me"),
            "createEmbedToken": Call("POST", "/api/auth/embed-token", {}),
            "createPanelSession": Call("POST", "/api/auth/panel-session", headers=panel_headers()),
            "createPanelToken": Call("POST", "/api/auth/panel-token", headers=panel_headers(self.panel_secret)),
            "endPanelSession": Call("DELETE", "/api/auth/panel-session", headers=panel_headers(self.panel_secret)),
            "streamChanges": Call("GET", "/v1/changes/stream"),
            "streamInbox": Call("GET", "/v1/inbox/stream"),
        }
        return calls[row]

    def _moderator(self, person: Account) -> Account:
        Moderator.objects.create(community=self.community, account=person)
        return person

    def _event(self) -> dict[str, str]:
        return {"serviceId": str(self.embed.pk), "event": "trigger_click", "pageUrl": "https://example.com/"}
