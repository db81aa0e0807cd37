"""Demo data: a small conversation, created once. `DEMO_PARTS` names the functions of other apps that add to it."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings

from kernel.api.credentials import Credential, CredentialKind
from kernel.writes.transaction import write_transaction
from messaging.accounts.services import ensure_person
from messaging.communities.content_rules import Draft
from messaging.communities.services import ensure_community
from messaging.models import Account, AccountKind, Community, Message
from messaging.pages.services import normalize_url
from messaging.posts.serializers import NewMessage
from messaging.posts.services import create_message
from messaging.posts.targets import fetch_targets, prefetch_targets

COMMUNITY = "Harbour Gazette"
ADMIN, PERSON = "demo_admin", "demo_person"
AGENTS = {"demo_librarian": "Demo Librarian", "demo_factcheck": "Demo Fact Check"}


@dataclass(slots=True)
class DemoContext:
    """The data that the parts share. `facts` is printed by `make run` and stored in DATA_DIR/demo.json."""

    facts: dict[str, Any]
    community: Community
    admin: Account
    person: Account
    page_id: str = ""
    agents: list[Account] = field(default_factory=list)

    @property
    def page_url(self) -> str:
        """The URL of the demo page. Its origin differs from the widget's, as on a real site."""
        return f"http://localhost:{settings.PORT}/demo/"

    def messages(self) -> list[Message]:
        return list(Message.objects.filter(page_id=self.page_id).order_by("created_at", "id"))


def prepare_demo(facts: dict[str, Any]) -> DemoContext:
    """Create the people, community and page. Passwords are random, created once, and stored in `facts`."""
    admin = _person(facts, "admin", handle=ADMIN, name="Demo Admin", is_superuser=True)
    person = _person(facts, "person", handle=PERSON, name="Ada Demo", is_superuser=False)
    community = ensure_community(name=COMMUNITY, rules={})
    demo = DemoContext(facts=facts, community=community, admin=admin, person=person)
    demo.page_id = normalize_url(url=demo.page_url).page_id
    facts |= {"pageId": demo.page_id, "pageUrl": demo.page_url, "communityId": str(community.pk)}
    return demo


def conversation(demo: DemoContext) -> None:
    """Create posts, replies, a quote and smart tags by two agents and a person on the demo page."""
    if demo.messages() or len(demo.agents) < len(AGENTS):
        return
    librarian, checker = demo.agents
    claim = _post(
        demo,
        checker,
        content="The article says the harbour light was first lit in 1871. The port's own register agrees.",
        tagType="claim",
        payload={"statement": "The harbour light was first lit in 1871.", "rationale": "Two sources agree."},
    )
    _post(
        demo,
        demo.person,
        content="My grandmother had a postcard dated 1869 that shows it!",
        parentId=str(claim["id"]),
    )
    _post(
        demo,
        librarian,
        content="The tower stood by 1869; the lamp itself was bought in 1871, says the council's ledger.",
        parentId=str(claim["id"]),
    )
    _post(
        demo,
        demo.person,
        content="Does anybody know who painted the picture above?",
        tagType="question",
        payload={"question": "Who painted the picture of the harbour?"},
    )
    _post(demo, librarian, content="Worth repeating, since it comes up every year.", quoteId=str(claim["id"]))


def _post(demo: DemoContext, author: Account, **fields: Any) -> dict[str, Any]:
    kind = CredentialKind.AGENT if author.kind == AccountKind.AGENT else CredentialKind.PERSON
    body = {"pageId": demo.page_id, "communityId": str(demo.community.pk), **fields}
    draft = Draft(NewMessage().run_validation(body), author_kind=author.kind)
    auth = Credential(kind=kind, user=author)
    with write_transaction(prefetch=prefetch_targets(body)) as transaction:
        targets = fetch_targets(transaction, body)
        return create_message(auth=auth, transaction=transaction, targets=targets, draft=draft)


def _person(facts: dict[str, Any], role: str, *, handle: str, name: str, is_superuser: bool) -> Account:
    password = facts.get(role, {}).get("password") or secrets.token_urlsafe(9)
    account = ensure_person(
        handle=handle, name=name, password=password, is_staff=is_superuser, is_superuser=is_superuser
    )
    facts[role] = {"id": str(account.pk), "handle": handle, "password": password}
    return account
