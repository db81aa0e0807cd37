"""What each call of the client does, against the running service."""

from __future__ import annotations

from itertools import islice
from secrets import token_hex

import pytest
from community_messaging import Client, ServiceError

from tests.clients import PASSWORD, Clients
from tests.service import Service

pytestmark = [pytest.mark.slow, pytest.mark.processes]


def new_url() -> str:
    return f"https://client.example/{token_hex(8)}"


def test_post_takes_the_url_or_the_id_of_a_page(agent: Client) -> None:
    url = new_url()
    posted = agent.post(url + "?utm_source=mail", "Hello")
    assert (posted["content"], posted["pageUrl"]) == ("Hello", url)
    assert agent.message(posted["id"]) == posted
    page_id = agent.normalize_url(url)["pageId"]
    assert agent.post(page_id, "Hello")["pageId"] == page_id == posted["pageId"]


def test_a_reply_is_on_the_page_of_its_parent(agent: Client) -> None:
    parent = agent.post(new_url(), "A post")
    reply = agent.reply(parent["id"], "A reply")
    assert (reply["parentId"], reply["pageId"]) == (parent["id"], parent["pageId"])
    assert [found["id"] for found in agent.replies(parent["id"])] == [reply["id"]]


def test_a_quote_is_on_the_page_of_the_quoted_post_or_on_another(agent: Client) -> None:
    quoted, url = agent.post(new_url(), "A post"), new_url()
    assert agent.quote(quoted["id"], "Here")["pageId"] == quoted["pageId"]
    assert agent.quote(quoted["id"], "There", page=url)["pageUrl"] == url


def test_replies_and_quotes_are_in_the_community_of_the_other_post(clients: Clients, client_service: Service) -> None:
    clients.manage("create_community", "Client Harbour")
    with Client(client_service.base_url) as reader:
        community = next(reader.communities("client harbour"))
    token = clients.agent_token(communityIds=[community["id"]])
    with Client(client_service.base_url, token) as agent:
        with pytest.raises(ServiceError) as refused:
            agent.post(new_url(), "Without a community")
        assert refused.value.allowed == [community["id"]]
        parent = agent.post(new_url(), "A post", community_id=community["id"])
        assert agent.reply(parent["id"], "A reply")["communityId"] == community["id"]
        assert agent.quote(parent["id"], "A quote")["communityId"] == community["id"]
        assert agent.community(community["id"])["posts"] == 3
    with Client(client_service.base_url, clients.agent_token()) as free:
        elsewhere = free.post(parent["pageId"], "Another post")
        quote = free.quote(parent["id"], "A quote", parent_id=elsewhere["id"])
        assert (quote["quoteId"], quote["parentId"], quote["communityId"]) == (parent["id"], elsewhere["id"], None)


def test_a_smart_tag_has_its_payload(agent: Client) -> None:
    tag = next(tag for tag in agent.smart_tags() if tag["type"] == "claim")
    posted = agent.post(new_url(), tag_type="claim", payload=tag["example"], anchor_text="a", language="en")
    assert (posted["tagType"], posted["payload"], posted["language"]) == ("claim", tag["example"], "en")


def test_a_reaction_is_set_replaced_listed_and_removed(agent: Client) -> None:
    message_id = agent.post(new_url(), "A post")["id"]
    assert [agent.react(message_id, emoji)["action"] for emoji in "👍👍🎉"] == ["added", "unchanged", "replaced"]
    assert [reaction["emoji"] for reaction in agent.reactions(message_id)] == ["🎉"]
    assert [own["emoji"] for own in agent.own_reactions(agent.message(message_id)["pageId"])] == ["🎉"]
    removed = agent.unreact(message_id)
    assert removed
    assert removed["action"] == "removed"
    assert agent.unreact(message_id) is None
    agent.react(message_id, "👍")
    assert agent.unreact(message_id.upper())


def test_iterators_read_further_pages_as_they_are_needed_and_filter(agent: Client) -> None:
    url = new_url()
    posted = [agent.post(url, f"Number {number}")["id"] for number in range(5)]
    assert [found["id"] for found in agent.messages(url, sort="oldest", page_size=2)] == posted
    assert [found["id"] for found in islice(agent.messages(url, page_size=1), 2)] == posted[:-3:-1]
    assert list(agent.messages(url, author_kind="human")) == []
    found = next(agent.messages(url, author_kind="agent", include_top_reply=True))
    assert found["topReply"] is None


def test_search_finds_words(agent: Client) -> None:
    url, word = new_url(), f"w{token_hex(6)}"
    posted = agent.post(url, f"A rare {word}")
    assert [found["id"] for found in agent.search(word)] == [posted["id"]]
    assert [found["id"] for found in agent.search(word, page=url)] == [posted["id"]]
    assert list(agent.search(word, page=new_url())) == []


def test_participants_are_the_authors_of_a_page_and_presence_counts_their_posts(agent: Client) -> None:
    url, handle = new_url(), agent.whoami()["handle"]
    agent.post(url, "A post")
    assert [account["handle"] for account in agent.participants(url)] == [handle]
    assert agent.agent(handle)["status"] == "active"
    assert [count["posts"] for count in agent.presence([new_url(), url])] == [0, 1]


def test_whoami_is_the_account_of_the_credential(agent: Client, person: Client) -> None:
    assert agent.whoami()["kind"] == "agent"
    assert agent.credential
    assert agent.credential.token not in repr(agent.credential)
    assert agent.agent_self()["limits"]["post"]["remaining"] == 30
    registered = person.register(f"who_{token_hex(4)}", "Who", PASSWORD)
    assert person.whoami() == registered


def test_the_inbox_goes_on_after_a_cursor(clients: Clients, agent: Client, client_service: Service) -> None:
    parent = agent.post(new_url(), "A post")
    with Client(client_service.base_url, clients.agent_token()) as other:
        replies = [other.reply(parent["id"], f"Reply {number}")["id"] for number in range(2)]
    events = list(agent.inbox(types=["reply"]))
    assert [event["messageId"] for event in events] == replies
    assert list(agent.inbox(events[0]["id"], types=["reply"])) == events[1:]
    assert [event["type"] for event in agent.inbox() if event["type"] != "request_decided"] == ["reply", "reply"]


def test_changes_of_a_page_are_listed(agent: Client) -> None:
    posted = agent.post(new_url(), "A post")
    agent.react(posted["id"], "👍")
    changes = list(agent.changes(page=posted["pageUrl"]))
    assert [change["type"] for change in changes] == ["message.created", "reaction.added"]


def test_a_person_requests_an_agent_and_manages_its_tokens(person: Client, clients: Clients) -> None:
    handle = f"op_{token_hex(4)}"
    person.register(handle, "Operator", PASSWORD)
    fields = {"purpose": "Takes part in a test of the client.", "scopes": ["post"]}
    request = person.request_agent(name="An agent", handle=f"a_{handle}", **fields)
    cancelled = person.request_agent(name="Another", handle=f"b_{handle}", **fields)
    assert person.cancel_agent_request(cancelled["id"])["status"] == "cancelled"
    assert [found["id"] for found in person.agent_requests(status="pending")] == [request["id"]]
    clients.ask(f"/v1/agent-tokens/requests/{request['id']}/approve", {}, **clients.super_admin().user)
    approved = person.agent_request(request["id"])
    assert approved["status"] == "approved"
    assert approved["agent"] is not None
    widening = person.widen_agent(approved["agent"]["id"], scopes=["quote"], purpose=fields["purpose"])
    assert (widening["widens"], person.cancel_agent_request(widening["id"])["status"]) == (True, "cancelled")
    created = person.create_agent_token(request["id"], label="test", expires_in_days=3)
    (listed,) = person.agent_tokens()
    assert (listed["id"], listed["label"]) == (created["tokenId"], "test")
    rotated = person.rotate_agent_token(created["tokenId"], old_ends_in="hour")
    with Client(person.base_url, rotated["token"]) as agent:
        assert agent.whoami()["handle"] == f"a_{handle}"
        assert person.revoke_agent_token(rotated["tokenId"], reason="done")["revoked"]
        with pytest.raises(ServiceError) as refused:
            agent.whoami()
    assert (refused.value.status, refused.value.code) == (401, "token_revoked")
    assert person.delete_agent(f"a_{handle}")["deleted"]


def test_a_person_signs_in_posts_reads_the_inbox_and_signs_out(person: Client) -> None:
    handle = f"p_{token_hex(4)}"
    person.register(handle, "A person", PASSWORD)
    assert person.sign_in(handle, PASSWORD)["handle"] == handle
    posted = person.post(new_url(), "By a person")
    assert posted["author"]["kind"] == "human"
    cursor = next(person.changes(page=posted["pageId"]))["id"]
    assert cursor
    person.sign_out()
    assert person.credential is None
    with pytest.raises(ServiceError) as refused:
        person.post(new_url(), "By nobody")
    assert refused.value.code == "not_authenticated"


def test_signing_out_everywhere_ends_the_user_token(person: Client) -> None:
    person.register(f"q_{token_hex(4)}", "A person", PASSWORD)
    credential = person.credential
    with Client(person.base_url) as bystander:
        bystander.register(f"q_{token_hex(4)}", "A bystander", PASSWORD)
        person.sign_out_everywhere()
        assert list(bystander.inbox()) == []
    person.credential = credential
    with pytest.raises(ServiceError) as refused:
        list(person.inbox())
    assert refused.value.status == 401


def test_a_person_marks_events_as_read(person: Client, agent: Client) -> None:
    person.register(f"r_{token_hex(4)}", "A reader", PASSWORD)
    agent.reply(person.post(new_url(), "By a person")["id"], "An answer")
    (event,) = person.inbox()
    assert person.mark_read(event["id"]) == {"unread": 0}


def test_a_refusal_says_what_is_wrong(agent: Client) -> None:
    with pytest.raises(ServiceError) as refused:
        agent.post(new_url(), "x" * 20_001)
    error = refused.value
    assert (error.code, error.status, error.field, error.body["max"]) == ("content_too_long", 413, "content", 20_000)
    assert error.request_id
    assert error.message in str(error)
    with pytest.raises(ServiceError) as refused:
        agent.react("no-uuid", "👍")
    assert refused.value.details[0]["pointer"] == "/messageId"


def test_an_id_never_names_another_path(agent: Client) -> None:
    for message_id in ("", ".", "..", "../me/reactions", "a/b", "x?y=1", "\x00", "é"):
        with pytest.raises((ServiceError, ValueError)) as refused:
            agent.message(message_id)
        codes = ("invalid_input", "message_not_found", "not_found")
        assert not isinstance(refused.value, ServiceError) or refused.value.code in codes, message_id
