"""createEmbedInstance, listEmbedInstances, getEmbedInstance, updateEmbedInstance, deleteEmbedInstance, blacklist."""

from __future__ import annotations

from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any
from uuid import uuid4

import pytest
from django.conf import settings

from embeds.models import Embed, EmbedStatus
from embeds.services import disable_embed
from kernel.api.ids import is_id
from messaging.models import Community, Webhook, WebhookTarget
from messaging.webhooks.services import create_webhook
from tests.api import Answer, Api
from tests.embeds.making import INSTANCES, an_embed
from tests.factories import CommunityFactory, PersonFactory, SuperAdminFactory
from tests.webhooks.making import GLOBAL_URL

pytestmark = pytest.mark.django_db


@pytest.fixture
def community() -> Community:
    return CommunityFactory()


@pytest.fixture
def owner() -> Api:
    return Api.as_signed_in(PersonFactory())


def new(community: Community, **fields: Any) -> dict[str, Any]:
    return {"name": "My blog", "communityId": str(community.pk), **fields}


def test_create_sets_defaults(owner: Api, community: Community) -> None:
    response = owner.post(INSTANCES, new(community))
    assert response.status == 201
    record = response.json
    assert is_id(record["id"])
    assert response.headers["Location"] == f"{INSTANCES}/{record['id']}"
    assert record["createdAt"] == record["updatedAt"]
    assert record["createdAt"].endswith("Z")
    assert {name: record[name] for name in record if name not in {"id", "createdAt", "updatedAt", "ownerId"}} == {
        "name": "My blog",
        "description": "",
        "communityId": str(community.pk),
        "domainWhitelist": [],
        "pageRules": {"type": "all", "patterns": []},
        "triggerConfig": {
            "type": "corner-tab",
            "position": "bottom-right",
            "message": "",
            "color": "#2f5bd0",
            "size": "medium",
        },
        "status": "active",
        "blockedWords": [],
        "shows": "community",
        "signIn": "service",
        "signInUrl": "",
        "jwksUrl": "",
        "embedCode": (f'<script async src="{settings.APP_URL}/embed/v1.js" data-service-id="{record["id"]}"></script>'),
    }
    assert owner.get(f"{INSTANCES}/{record['id']}").json == record


def test_create_stores_every_field(owner: Api, community: Community) -> None:
    fields = {
        "description": "Comments <b>below</b> posts",
        "domainWhitelist": [" Example.COM ", "example.com.", "*.bücher.example:8080"],
        "pageRules": {"type": "patterns", "patterns": ["/blog/*"]},
        "triggerConfig": {
            "type": "bubble",
            "position": "top-left",
            "message": "Talk",
            "color": "#0aF",
            "size": "large",
        },
        "status": "paused",
        "blockedWords": ["spam*", "buy now"],
    }
    record = owner.post(INSTANCES, new(community, **fields)).json
    expected = fields | {"domainWhitelist": ["example.com", "*.xn--bcher-kva.example:8080"]}
    assert {name: record[name] for name in expected} == expected


class Elements(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.found.append(("text", {data: None}))


def test_embed_code_is_one_script_element_for_any_name(owner: Api, community: Community) -> None:
    for name in ['"><script>alert(1)</script>', "</script>", "' onload='x", "<!--", "&quot;", "名前"]:
        record = owner.post(INSTANCES, new(community, name=name)).json
        assert record["name"] == name, name
        assert Elements(record["embedCode"]).found == [
            ("script", {"async": None, "src": f"{settings.APP_URL}/embed/v1.js", "data-service-id": record["id"]})
        ], name


def test_invalid_field_is_400_and_named(owner: Api, community: Community) -> None:
    for fields, field in [
        ({"name": None}, "name"),
        ({"name": "  "}, "name"),
        ({"name": "x" * 121}, "name"),
        ({"name": 5}, "name"),
        ({"communityId": "1"}, "communityId"),
        ({"communityId": None}, "communityId"),
        ({"description": "x" * 2001}, "description"),
        ({"description": []}, "description"),
        ({"domainWhitelist": "example.com"}, "domainWhitelist"),
        ({"domainWhitelist": ["ok.example", "https://bad.example"]}, "domainWhitelist[1]"),
        ({"domainWhitelist": [f"{n}.example" for n in range(1001)]}, "domainWhitelist"),
        ({"domainWhitelist": ["same.example"] * 1001}, "domainWhitelist"),
        ({"pageRules": "all"}, "pageRules"),
        ({"pageRules": {}}, "pageRules.type"),
        ({"pageRules": {"type": "regex"}}, "pageRules.type"),
        ({"pageRules": {"type": "patterns"}}, "pageRules.patterns"),
        ({"pageRules": {"type": "patterns", "patterns": []}}, "pageRules.patterns"),
        ({"pageRules": {"type": "patterns", "patterns": ["x" * 513]}}, "pageRules.patterns[0]"),
        ({"pageRules": {"type": "patterns", "patterns": ["/*"] * 101}}, "pageRules.patterns"),
        ({"triggerConfig": {"type": "popup"}}, "triggerConfig.type"),
        ({"triggerConfig": {"position": "center"}}, "triggerConfig.position"),
        ({"triggerConfig": {"size": 3}}, "triggerConfig.size"),
        ({"triggerConfig": {"message": "x" * 81}}, "triggerConfig.message"),
        ({"triggerConfig": {"color": "red"}}, "triggerConfig.color"),
        ({"triggerConfig": {"color": "#12345"}}, "triggerConfig.color"),
        ({"triggerConfig": {"color": "#123\n"}}, "triggerConfig.color"),
        ({"status": "gone"}, "status"),
        ({"status": "disabled"}, "status"),
        ({"signIn": "guests"}, "signIn"),
        ({"signInUrl": "javascript:alert(1)"}, "signInUrl"),
        ({"signInUrl": "https://site.example/" + "x" * 2_048}, "signInUrl"),
        ({"blockedWords": ["fine", "***"]}, "blockedWords[1]"),
        ({"blockedWords": ["x" * 101]}, "blockedWords[0]"),
        ({"blockedWords": ["word"] * 501}, "blockedWords"),
    ]:
        created = owner.post(INSTANCES, new(community, **fields))
        assert (created.status, created.error, created.json["field"]) == (400, "invalid_input", field), (fields, field)
        assert not Embed.objects.exists(), (fields, field)


def test_fields_of_maximum_length_are_accepted(owner: Api, community: Community) -> None:
    fields = {
        "name": "x" * 120,
        "description": "x" * 2000,
        "domainWhitelist": [f"{n}.example" for n in range(1000)],
        "pageRules": {"type": "exclude", "patterns": ["/" + "x" * 511] * 100},
        "triggerConfig": {"message": "x" * 80},
        "blockedWords": [f"{n:x>100}" for n in range(500)],
    }
    assert owner.post(INSTANCES, new(community, **fields)).status == 201


def test_name_and_community_are_required_on_create(owner: Api, community: Community) -> None:
    for missing in ["name", "communityId"]:
        body = new(community)
        del body[missing]
        response = owner.post(INSTANCES, body)
        assert (response.status, response.json["field"]) == (400, missing), missing


def test_unknown_community_is_404(owner: Api, community: Community) -> None:
    response = owner.post(INSTANCES, {"name": "x", "communityId": str(uuid4())})
    assert (response.status, response.error) == (404, "community_not_found")


def test_read_only_and_unknown_fields_are_ignored(owner: Api, community: Community) -> None:
    sent = {"id": str(uuid4()), "ownerId": str(uuid4()), "embedCode": "<b>", "createdAt": "never", "more": 1}
    record = owner.post(INSTANCES, new(community, **sent)).json
    assert all(record[name] != value for name, value in sent.items() if name in record)
    assert "more" not in record


def test_repeated_key_creates_one_embed(owner: Api, community: Community) -> None:
    first = owner.post(INSTANCES, new(community), key="once")
    again = owner.post(INSTANCES, new(community), key="once")
    assert (again.status, again.json) == (201, first.json)
    assert again.headers["Idempotent-Replayed"] == "true"
    assert Embed.objects.count() == 1


def test_list_is_filtered_by_status() -> None:
    owner = PersonFactory()
    api = Api.as_signed_in(owner)
    active, paused = (an_embed(owner, status=status) for status in ("active", "paused"))
    assert [row["id"] for row in api.get(INSTANCES, status="paused").json["instances"]] == [str(paused.pk)]
    assert [row["id"] for row in api.get(INSTANCES, status="active").json["instances"]] == [str(active.pk)]
    for status in ("gone", "", ["active", "paused"]):
        refused = api.get(INSTANCES, status=status)
        assert (refused.status, refused.json["error"], refused.json["field"]) == (400, "invalid_input", "status")


def test_list_has_the_owner_s_embeds_newest_first_in_pages(django_assert_max_num_queries: Any) -> None:
    person = PersonFactory()
    created = [str(an_embed(person).pk) for _ in range(13)]
    an_embed()
    deleted = an_embed(person)
    api = Api.as_signed_in(person)
    assert api.delete(f"{INSTANCES}/{deleted.pk}").status == 200
    with django_assert_max_num_queries(2):
        first = api.get(INSTANCES)
    rest = api.get(INSTANCES, cursor=first.json["nextCursor"])
    assert [record["id"] for record in first.json["instances"] + rest.json["instances"]] == created[::-1]
    assert (len(first.json["instances"]), first.json["hasMore"]) == (10, True)
    assert (rest.json["hasMore"], rest.json["nextCursor"]) == (False, None)
    assert Api.as_signed_in(PersonFactory()).get(INSTANCES, cursor=first.json["nextCursor"]).error == "invalid_cursor"


def test_put_changes_only_the_fields_given(owner: Api, community: Community) -> None:
    before = owner.post(INSTANCES, new(community, description="Old", pageRules={"type": "all"})).json
    path = f"{INSTANCES}/{before['id']}"
    changes = {"name": "New", "status": "paused", "triggerConfig": {"message": "Hi"}, "ownerId": str(uuid4())}
    after = owner.put(path, changes).json
    expected = before | {"name": "New", "status": "paused"}
    expected["triggerConfig"] = before["triggerConfig"] | {"message": "Hi"}
    assert after == expected | {"updatedAt": after["updatedAt"]}
    assert after["updatedAt"] > before["updatedAt"]
    assert owner.get(path).json == after
    assert owner.put(path, {"status": "active", "pageRules": {"patterns": ["/x"]}}).json["pageRules"] == {
        "type": "all",
        "patterns": ["/x"],
    }
    assert owner.put(path, {}).status == 200


def test_rules_that_show_the_widget_nowhere_are_refused_when_they_are_set(owner: Api, community: Community) -> None:
    embed = owner.post(INSTANCES, new(community, pageRules={"type": "patterns", "patterns": ["/a"]})).json
    path = f"{INSTANCES}/{embed['id']}"
    for rules in ({"patterns": []}, {"type": "patterns", "patterns": []}):
        answer = owner.put(path, {"pageRules": rules})
        assert (answer.status, answer.json["field"]) == (400, "pageRules.patterns")
    assert owner.get(path).json == embed
    assert owner.put(path, {"pageRules": {"type": "exclude", "patterns": []}}).status == 200
    assert owner.put(path, {"pageRules": {"type": "patterns"}}).status == 400
    # Rules of before stay until they are changed, and the record may be sent back.
    Embed.objects.filter(pk=embed["id"]).update(page_rules={"type": "patterns", "patterns": []})
    record = owner.get(path).json
    assert owner.put(path, record | {"name": "Renamed"}).json["name"] == "Renamed"


def test_put_accepts_the_record_of_a_disabled_embed(owner: Api, community: Community) -> None:
    record = owner.post(INSTANCES, new(community)).json
    disable_embed(embed_id=record["id"], by=SuperAdminFactory(), reason="Spam")
    path = f"{INSTANCES}/{record['id']}"
    read = owner.get(path).json
    assert read["status"] == "disabled"
    assert owner.put(path, read | {"name": "Renamed"}).json["name"] == "Renamed"


def test_put_validates_as_create_does() -> None:
    for changes, status, field in [
        ({"name": ""}, 400, "name"),
        ({"communityId": "x"}, 400, "communityId"),
        ({"triggerConfig": {"color": "blue"}}, 400, "triggerConfig.color"),
        ({"domainWhitelist": ["a b"]}, 400, "domainWhitelist[0]"),
        ({"status": "disabled"}, 400, "status"),
        ({"communityId": str(uuid4())}, 404, "communityId"),
    ]:
        embed = an_embed()
        response = Api.as_signed_in(embed.owner).put(f"{INSTANCES}/{embed.pk}", changes)
        assert (response.status, response.json.get("field")) == (status, field), (changes, status, field)
        unchanged = Embed.objects.get(pk=embed.pk)
        assert (unchanged.name, unchanged.updated_at) == (embed.name, embed.updated_at), (changes, status, field)


@pytest.mark.parametrize("status", ["active", "paused"])
def test_only_a_super_admin_may_change_the_status_of_a_disabled_embed(status: str) -> None:
    embed, boss_s = an_embed(), an_embed(SuperAdminFactory())
    for disabled in (embed, boss_s):
        disable_embed(embed_id=disabled.pk, by=boss_s.owner)
    refused = Api.as_signed_in(embed.owner).put(f"{INSTANCES}/{embed.pk}", {"status": status})
    assert (refused.status, refused.error) == (403, "embed_disabled")
    changed = Api.as_signed_in(boss_s.owner).put(f"{INSTANCES}/{boss_s.pk}", {"status": status})
    assert changed.json["status"] == status


def test_a_super_admin_may_disable_their_own_embed() -> None:
    boss_s = an_embed(SuperAdminFactory())
    response = Api.as_signed_in(boss_s.owner).put(f"{INSTANCES}/{boss_s.pk}", {"status": "disabled"})
    assert (response.status, response.json["status"]) == (200, "disabled")
    assert Api().get(f"/api/embeds/config/{boss_s.pk}").json["status"] == "disabled"


def test_delete_is_soft_and_final() -> None:
    embed = an_embed()
    other = an_embed(embed.owner)
    before = Embed.objects.values().get(pk=other.pk)
    api, path = Api.as_signed_in(embed.owner), f"{INSTANCES}/{embed.pk}"
    assert api.delete(path).json == {"id": str(embed.pk), "deleted": True}
    assert [api.delete(path).status, api.get(path).status, api.put(path, {}).status] == [404, 404, 404]
    assert Api().get(f"/api/embeds/config/{embed.pk}").error == "embed_not_found"
    assert Embed.objects.filter(pk=embed.pk).exists()
    assert Embed.objects.values().get(pk=other.pk) == before


def test_webhooks_end_with_their_embed(settings: Any) -> None:
    settings.WEBHOOKS = True
    embed = an_embed()
    other = an_embed(embed.owner)
    for target in (embed, other):
        create_webhook(owner=embed.owner, target_kind=WebhookTarget.EMBED, target_id=target.pk, url=GLOBAL_URL)
    assert Api.as_signed_in(embed.owner).delete(f"{INSTANCES}/{embed.pk}").status == 200
    assert Webhook.objects.get().target_id == other.pk


def test_blacklist_is_normalised_stored_and_validated() -> None:
    embed = an_embed()
    api, path = Api.as_signed_in(embed.owner), f"{INSTANCES}/{embed.pk}/blacklist"
    assert api.get(path).json == {"domains": []}
    put = api.put(path, {"domains": ["Evil.NET", "evil.net.", "*.bad.example"]})
    assert put.json == {"domains": ["evil.net", "*.bad.example"]}
    assert api.get(path).json == put.json
    for bad, field in (
        ({}, "domains"),
        ({"domains": "x"}, "domains"),
        ({"domains": [1]}, "domains[0]"),
        ({"domains": ["x/y"]}, "domains[0]"),
        ({"domains": [f"{n}.example" for n in range(1001)]}, "domains"),
    ):
        refused = api.put(path, bad)
        assert (refused.status, refused.json["field"]) == (400, field)
    assert api.get(path).json == put.json


def test_an_entry_that_is_no_host_is_refused_in_both_lists() -> None:
    for entry in ["a.com,b.com", "a.com;script-src", "a.com'x", "'self'", "$"]:
        embed = an_embed()
        api, path = Api.as_signed_in(embed.owner), f"{INSTANCES}/{embed.pk}"
        whitelist = api.put(path, {"domainWhitelist": ["a.com", entry]})
        blacklist = api.put(f"{path}/blacklist", {"domains": ["a.com", entry]})
        assert (whitelist.status, whitelist.json["field"]) == (400, "domainWhitelist[1]"), entry
        assert (blacklist.status, blacklist.json["field"]) == (400, "domains[1]"), entry
        unchanged = Embed.objects.get(pk=embed.pk)
        assert (unchanged.domain_whitelist, api.get(f"{path}/blacklist").json) == (
            embed.domain_whitelist,
            {"domains": []},
        ), entry


ID_ROUTES: dict[str, Callable[[Api, str], Answer]] = {
    "get": lambda api, embed_id: api.get(f"{INSTANCES}/{embed_id}"),
    "put": lambda api, embed_id: api.put(f"{INSTANCES}/{embed_id}", {"name": "Mine now"}),
    "delete": lambda api, embed_id: api.delete(f"{INSTANCES}/{embed_id}"),
    "get blacklist": lambda api, embed_id: api.get(f"{INSTANCES}/{embed_id}/blacklist"),
    "put blacklist": lambda api, embed_id: api.put(f"{INSTANCES}/{embed_id}/blacklist", {"domains": []}),
    "analytics": lambda api, embed_id: api.get(f"/api/embeds/analytics/{embed_id}"),
}


@pytest.mark.parametrize("call", ID_ROUTES.values(), ids=ID_ROUTES.keys())
def test_only_the_owner_may_use_an_embed(call: Callable[[Api, str], Answer]) -> None:
    embed = an_embed()
    response = call(Api.as_signed_in(PersonFactory()), str(embed.pk))
    assert (response.status, response.error) == (403, "not_owner")
    owner = Api.as_signed_in(embed.owner)
    for unknown in (str(uuid4()), "17", "%00", "x" * 500):
        assert (call(owner, unknown).status, call(owner, unknown).error) == (404, "embed_not_found")
    unchanged = Embed.objects.get(pk=embed.pk)
    assert (unchanged.name, unchanged.updated_at, unchanged.status) == (
        embed.name,
        embed.updated_at,
        EmbedStatus.ACTIVE,
    )
    assert call(owner, str(embed.pk)).status == 200
