"""Every operation has an example of its request and of its response; the application gives that response to it.

A request is built from the document alone, with real values for the generated ones: ids, tokens, cursors. In the
response, generated values are replaced by those of the examples.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

import orjson
import pytest

from agents.serializers import EXAMPLE_AGENT, EXAMPLE_PREFIX, EXAMPLE_TOKEN
from embeds.host_views import EXAMPLE_VALUE
from embeds.models import VALUE
from embeds.site_accounts.views import EXAMPLE_SECRET as EXAMPLE_SITE_SECRET
from kernel.api.openapi.example_values import CURSOR, ID, JWT, TIME
from kernel.api.openapi.schema import sample
from kernel.database.sql import database_now
from messaging.accounts.sessions import start_session
from messaging.models import Ban, Moderator
from messaging.webhooks.serializers import EXAMPLE_SECRET
from oauth import device_grants
from tests.agents.factories import TokenHolder
from tests.api import NOTHING, Answer, Api
from tests.config_api.example_world import Call, ExampleWorld
from tests.openapi import document
from tests.panel_sessions import panel_headers, panel_secret

pytestmark = pytest.mark.django_db

OPERATIONS = {
    operation["operationId"]: (method.upper(), path, operation)
    for path, methods in document()["paths"].items()
    for method, operation in methods.items()
}
GENERATED = {
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}": ID,
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z": TIME,
    r'"\d{4}-\d\d-\d\d"': '"2026-05-01"',
    r"eyJ[\w-]+\.[\w-]+\.[\w-]+": JWT,
    r"cag_[0-9A-Za-z]{46}": EXAMPLE_TOKEN,
    r'"cag_[0-9A-Za-z]{8}"': f'"{EXAMPLE_PREFIX}"',
    r"[B-Z]{3}-[B-Z]{3}-[B-Z]{3}": "BCD-FGH-JKL",
    r"whsec_[\w+/=]+": EXAMPLE_SECRET,
    r"sso_[\w-]{43}": EXAMPLE_SITE_SECRET,
    r'"site_[a-z0-9]{12}"': '"ada"',
    f"{VALUE}[0-9a-f]{{32}}": EXAMPLE_VALUE,
    r'"(?!cag_|sso_|whsec_|p1_)[\w-]{40,80}"': f'"{CURSOR}"',
}


def device_code_of(holder: TokenHolder) -> str:
    """The device code of a program that may have a token of this agent."""
    asked = {"client_name": "Library Helper", "handle": "library_helper", "purpose": "Answers questions."}
    grant, device_code, _user_code = device_grants.ask(**asked, scope="post reply", network="")
    device_grants.confirm(grant_id=grant.pk, by=holder.request.requester, agent=holder.agent)
    return device_code


def today() -> dict[str, Any]:
    day = database_now().date()
    return {"from": day, "to": day}


CALLS: dict[str, Callable[[ExampleWorld], Call]] = {
    # Posts and reactions.
    "listMessages": lambda world: Call(Api(), query={"pageId": world.post.page_id}),
    "getMessage": lambda world: Call(Api(), world.post.pk),
    "createMessage": lambda world: Call(world.person, world.page.pk),
    "checkMessage": lambda world: Call(world.person, world.page.pk),
    "editMessage": lambda world: Call(world.person, world.misspelt()),
    "deleteMessage": lambda world: Call(world.person, world.post.pk),
    "reportMessage": lambda world: Call(world.person, world.post.pk),
    "searchMessages": lambda world: Call(Api(), world.post.pk),
    "addReaction": lambda world: Call(world.person, world.post.pk),
    "removeReaction": lambda world: Call(world.person, world.reacted()),
    "listReactions": lambda world: Call(Api(), world.reacted() and world.post.pk),
    "listOwnReactions": lambda world: Call(world.person, world.reacted()),
    # Pages and communities.
    "normalizeUrl": lambda world: Call(Api(), world.loaded()),
    "getPresenceCounts": lambda world: Call(Api(), world.post.pk),
    "listParticipants": lambda world: Call(Api(), world.post.pk, query={"pageId": world.post.page_id}),
    "listSmartTags": lambda _world: Call(Api()),
    "listCommunities": lambda world: Call(Api(), world.in_community()),
    "getCommunity": lambda world: Call(Api(), world.in_community()),
    "getDiscussion": lambda world: Call(Api(), world.page and world.in_community()),
    "createCommunity": lambda world: Call(world.person),
    "listModerationQueue": lambda world: Call(world.super_admin, world.reported(), query={"state": "reported"}),
    "getOwnModeration": lambda world: Call(world.moderator, world.embed.pk),
    "approveMessage": lambda world: Call(world.moderator, world.in_community_as("pending")),
    "hideMessage": lambda world: Call(world.moderator, world.in_community_as("published")),
    "restoreMessage": lambda world: Call(world.moderator, world.in_community_as("hidden")),
    "updateCommunity": lambda world: Call(world.moderator, world.community.pk),
    "pinMessage": lambda world: Call(world.moderator, world.in_community_as("published")),
    "unpinMessage": lambda world: Call(world.moderator, world.pinned()),
    "closeDiscussion": lambda world: Call(world.moderator, world.page and world.community.pk),
    "reopenDiscussion": lambda world: Call(world.moderator, world.closed()),
    "addModerator": lambda world: Call(world.super_admin, world.ada and world.community.pk),
    "removeModerator": lambda world: Call(world.super_admin, world.only_id(Moderator)),
    "banAccount": lambda world: Call(world.super_admin, world.only_id()),
    "liftBan": lambda world: Call(world.super_admin, world.only_id(Ban)),
    "listHiddenHere": lambda world: Call(world.super_admin, world.foreign_id(is_hidden=True)),
    "hideHere": lambda world: Call(world.super_admin, world.foreign_id()),
    "showHere": lambda world: Call(world.super_admin, world.foreign_id(is_hidden=True)),
    "listHosts": lambda world: Call(world.moderator, world.with_host()),
    "addHost": lambda world: Call(world.moderator, world.community.pk),
    "checkHost": lambda world: Call(world.moderator, world.with_host()),
    "removeHost": lambda world: Call(world.moderator, world.with_host()),
    "listCommunityEmbeds": lambda world: Call(world.moderator, world.embed.community_id),
    "endCommunityEmbed": lambda world: Call(world.super_admin, world.embed_with_id_of_community()),
    "getPageAtomFeed": lambda world: Call(Api(), world.post.pk),
    "getPageJsonFeed": lambda world: Call(Api(), world.post.pk),
    "getCommunityAtomFeed": lambda world: Call(Api(), world.in_community()),
    "getCommunityJsonFeed": lambda world: Call(Api(), world.in_community()),
    # Changes and inboxes.
    "listChanges": lambda world: Call(Api(), world.written()),
    "listInbox": lambda world: Call(world.person, world.agent.request.pk),
    "readInbox": lambda world: Call(world.person, cursor=world.person.get("/v1/inbox").json["nextCursor"]),
    "listOwnMessages": lambda world: Call(world.person, world.post.pk),
    "getPulse": lambda world: Call(world.agent.api),
    # Sign-in.
    "register": lambda _world: Call(Api()),
    "login": lambda world: Call(Api(), world.ada.pk),
    "refreshSession": lambda world: Call(Api(), token=start_session(account=world.ada).refresh),
    "logout": lambda world: Call(Api(), token=start_session(account=world.ada).refresh),
    "logoutAll": lambda world: Call(world.signed_in),
    "getMe": lambda world: Call(world.signed_in),
    "createEmbedToken": lambda world: Call(world.signed_in),
    "createDeviceCode": lambda _world: Call(Api()),
    "createToken": lambda world: Call(Api(), cursor=device_code_of(world.agent)),
    "createClient": lambda _world: Call(Api()),
    "revokeClientToken": lambda _world: Call(Api(), cursor="x"),
    "listPrograms": lambda world: Call(world.person, world.program.pk),
    "revokeProgram": lambda world: Call(world.person, world.program.pk),
    "createPanelSession": lambda world: Call(Api(world.signed_in.credentials | panel_headers())),
    "createPanelToken": lambda world: Call(Api(panel_headers(panel_secret(world.ada)))),
    "endPanelSession": lambda world: Call(Api(panel_headers(panel_secret(world.ada)))),
    # Agents.
    "requestAgent": lambda world: Call(world.person),
    "listAgentRequests": lambda world: Call(world.person, world.pending.pk),
    "getAgentRequest": lambda world: Call(world.person, world.pending.pk),
    "approveAgentRequest": lambda world: Call(world.super_admin, world.pending.pk),
    "rejectAgentRequest": lambda world: Call(world.super_admin, world.pending.pk),
    "cancelAgentRequest": lambda world: Call(world.person, world.pending.pk),
    "createAgentToken": lambda world: Call(world.person, world.agent.request.pk),
    "listAgentTokens": lambda world: Call(world.person, world.agent.token.pk),
    "revokeAgentToken": lambda world: Call(world.person, world.agent.token.pk),
    "rotateAgentToken": lambda world: Call(world.person, world.agent.token.pk),
    "setAgentReview": lambda world: Call(world.person, world.agent.account.pk),
    "listAgentDrafts": lambda world: Call(world.person, world.draft.author_id),
    "releaseDraft": lambda world: Call(world.person, world.draft_of_its_id()),
    "rejectDraft": lambda world: Call(world.person, world.draft_of_its_id()),
    "deleteAgent": lambda world: Call(world.person, world.agent.account.pk),
    "getAgent": lambda world: Call(Api(), world.agent.account.pk),
    "getAgentSelf": lambda world: Call(world.agent.api),
    # Webhooks.
    "createWebhook": lambda world: Call(world.person, world.agent.account.pk),
    "listWebhooks": lambda world: Call(world.person, world.webhook.pk),
    "getWebhook": lambda world: Call(world.person, world.webhook.pk),
    "testWebhook": lambda world: Call(world.person, world.webhook.pk),
    "rotateWebhookSecret": lambda world: Call(world.person, world.webhook.pk),
    "deleteWebhook": lambda world: Call(world.person, world.webhook.pk),
    # Embeds.
    "createEmbedInstance": lambda world: Call(world.signed_in, world.community.pk),
    "listEmbedInstances": lambda world: Call(world.signed_in, world.embed.pk),
    "getEmbedInstance": lambda world: Call(world.signed_in, world.embed.pk),
    "updateEmbedInstance": lambda world: Call(world.signed_in, world.embed.pk),
    "deleteEmbedInstance": lambda world: Call(world.signed_in, world.embed.pk),
    "getEmbedBlacklist": lambda world: Call(world.signed_in, world.with_blacklist()),
    "putEmbedBlacklist": lambda world: Call(world.signed_in, world.embed.pk),
    "rotateSiteSecret": lambda world: Call(world.signed_in, world.embed.pk),
    "deleteSiteSecret": lambda world: Call(world.signed_in, world.with_secret()),
    "getSiteTokenCheck": lambda world: Call(world.signed_in, world.embed.pk, token="x"),
    "exchangeSiteToken": lambda world: Call(Api(), world.embed.pk, token=world.site_token()),
    "getEmbedConfig": lambda world: Call(Api(), world.embed.pk),
    "getImportedPost": lambda world: Call(Api(), world.imported()),
    "getEmbedClientConfig": lambda _world: Call(Api()),
    "getEmbedAnalytics": lambda world: Call(world.signed_in, world.clicked(), query=today()),
    "ingestAnalyticsEvent": lambda world: Call(Api(), world.embed.pk),
}
# What they stream is the item of the list.
STREAMS = {"streamChanges", "streamInbox"}


def test_every_operation_has_a_call() -> None:
    assert CALLS.keys() | STREAMS == OPERATIONS.keys()


@pytest.mark.parametrize("name", sorted(CALLS))
def test_the_example_of_a_request_gets_the_example_of_its_response(name: str, settings: Any) -> None:
    settings.WEBHOOKS, settings.DOMAIN_CHECKS, settings.OAUTH, settings.STREAM_URL = True, True, True, None
    _method, _path, operation = OPERATIONS[name]
    answer = _send(name, CALLS[name](ExampleWorld()))
    assert 200 <= answer.status < 300, answer.body
    expected = _documented(operation, str(answer.status))
    real = None if expected is None else _as_documented(answer)
    if name == "listSmartTags":
        assert expected["smartTags"][0] in real["smartTags"], "the example is one of many"
    elif name == "editMessage":
        assert real == expected | {"editedAt": TIME}, "the example of a message was never edited"
    elif name == "listAgentDrafts":
        waiting = {"author": EXAMPLE_AGENT | {"id": ID}, "status": "pending", "pendingFor": "operator"}
        assert real == expected | {"messages": [expected["messages"][0] | waiting]}, "the example is a person's post"
    else:
        assert real == expected


def _send(name: str, call: Call) -> Answer:
    method, path, operation = OPERATIONS[name]
    real = {ID: str(call.id), CURSOR: call.cursor, JWT: call.token}
    query = dict(call.query)
    for parameter in operation["parameters"]:
        value = _with_real(parameter["schema"].get("examples", [""])[0], real)
        if parameter["in"] == "path":
            path = path.replace(f"{{{parameter['name']}}}", value)
        elif parameter["in"] == "query" and parameter.get("required"):
            query[parameter["name"]] = value
    content = operation.get("requestBody", {}).get("content")
    body = NOTHING if content is None else _with_real(_example_of(content["application/json"]), real)
    return call.api.send(method, f"{path}?{urlencode(query)}" if query else path, body)


def _documented(operation: dict[str, Any], status: str) -> Any:
    content = operation["responses"][status]["content"]
    media = next((media for media_type, media in content.items() if media_type.endswith("json")), None)
    return None if media is None else _example_of(media)


def _example_of(media: dict[str, Any]) -> Any:
    if "example" in media:
        return media["example"]
    schema = media["schema"]
    return sample(schema, document()["components"]["schemas"])


def _with_real(example: Any, real: dict[str, str]) -> Any:
    text = orjson.dumps(example).decode()
    for shown, value in real.items():
        text = text.replace(shown, value)
    return orjson.loads(text)


def _as_documented(answer: Answer) -> Any:
    text = answer.body.decode()
    for pattern, shown in GENERATED.items():
        text = re.sub(pattern, shown, text)
    return orjson.loads(text)
