"""The service with an embed on a page of another origin, in a browser."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import BrowserContext, Frame, FrameLocator, Locator, Page, Request, Route

from embeds.models import Embed
from kernel.api import jwt
from kernel.api.credentials import Credential, CredentialKind
from kernel.writes.transaction import write_transaction
from messaging.communities.moderators import moderates_any
from messaging.models import Account, Message
from messaging.models import Page as PageRow
from reactions.services import set_reaction
from tests.api import Api
from tests.browser import PATIENCE_MS
from tests.factories import MessageFactory, PageFactory, PersonFactory
from tests.widget.sites import html

PASSWORD = "correct horse battery"
CODE = '<script async src="{app}/embed/v1.js" data-service-id="{id}"{more}></script>'
SIGN_IN = """([origin, session]) => {
  if (location.origin === origin) sessionStorage.setItem("session", JSON.stringify(session));
}"""


@dataclass
class Live:
    """`app` serves the widget, `host` the page: one server with two names, so two origins for the browser."""

    context: BrowserContext
    app: str
    host: str
    embed: Embed
    article: PageRow = field(init=False)
    errors: list[str] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)
    console: list[str] = field(default_factory=list)
    # Further attributes of the script element, and what is around it in the host page.
    attributes: str = ""
    before: str = ""
    after: str = ""

    def __post_init__(self) -> None:
        self.article = PageFactory(url=self.url)
        self.context.route(f"{self.host}/host/**", self._host_page)
        self.context.on("weberror", lambda error: self.errors.append(str(error.error)))
        self.context.on("console", lambda message: self.console.append(message.text))

    @property
    def url(self) -> str:
        return f"{self.host}/host/article"

    def message(self, **fields: Any) -> Message:
        """A post of the embed's community, unless `community` says something else."""
        message: Message = MessageFactory(**{"page": self.article, "community": self.embed.community} | fields)
        return message

    def messages(self, count: int, text: str = "Post {n}", **fields: Any) -> list[Message]:
        """Messages with this text and their number, the oldest first."""
        return [self.message(content=text.format(n=n), **fields) for n in range(count)]

    def post(self, content: str, by: Account | None = None, **fields: Any) -> str:
        """Post to the embed's community with the API, as agents and other panels do; returns the id."""
        community = {"communityId": str(self.embed.community_id)}
        body = {"pageId": self.article.pk, "content": content, **community, **fields}
        answer = Api.as_person(by or PersonFactory()).post("/api/messages", body)
        assert answer.status == 201, answer.body
        message_id: str = answer.json["id"]
        return message_id

    def reaction(self, message: Message, emoji: str, **person: Any) -> None:
        """Add the reaction of a new person."""
        auth = Credential(kind=CredentialKind.PERSON, user=PersonFactory(**person))
        with write_transaction() as transaction:
            set_reaction(auth=auth, transaction=transaction, message_id=message.pk, emoji=emoji)

    def signed_in(self, account: Account) -> None:
        """Store a session of this person in the tab."""
        store_session(self.context, self.app, account)

    def open(self) -> tuple[Page, FrameLocator]:
        """Open the host page and its panel; return both when the thread is loaded."""
        page = self.context.new_page()
        page.goto(self.url)
        return page, open_panel(page)

    def follow(self, mode: str = "poll") -> tuple[Page, FrameLocator]:
        """Open the panel; return when it follows the changes of its page."""
        page, panel = self.open()
        panel.locator(f".thread[data-live={mode}]").wait_for()
        return page, panel

    def follow_alone(self) -> Page:
        """Open the panel in a tab; return when it follows the changes of its page."""
        page = self.open_alone()
        page.locator(".thread[data-live=poll]").wait_for()
        return page

    def change(self, **fields: Any) -> None:
        """Update the row of the embed."""
        Embed.objects.filter(pk=self.embed.pk).update(**fields)

    def moderate(self) -> None:
        """Let every post of the community wait for review."""
        self.rule(pre_moderation="everyone")

    def rule(self, **rules: Any) -> None:
        """Change columns of the embed's community."""
        for column, value in rules.items():
            setattr(self.embed.community, column, value)
        self.embed.community.save()

    def panel_url(self, **query: str) -> str:
        more = "".join(f"&{name}={value}" for name, value in query.items())
        return f"{self.app}/embed/panel?serviceId={self.embed.pk}{more}#pageUrl={self.url}"

    def open_alone(self, **query: str) -> Page:
        """Open the panel in a tab, without a host page."""
        page = self.context.new_page()
        page.goto(self.panel_url(**query))
        page.locator(".thread[aria-busy=false]").wait_for()
        return page

    def respond(self, path: str, status: int, body: dict[str, Any] | None = None, **headers: str) -> list[Request]:
        """Send this response to every write to a path; return the list that collects the requests."""
        requests: list[Request] = []

        def handle(route: Route) -> None:
            if route.request.method == "GET":
                return route.fallback()
            requests.append(route.request)
            sent_headers = {name.replace("_", "-"): value for name, value in headers.items()}
            return route.fulfill(status=status, json=body, headers=sent_headers)

        self.context.route(f"{self.app}{path}", handle)
        return requests

    def wait_for_first(self, pending: list[Route]) -> Route:
        return wait_for_first(self.context, pending)

    def intercept(self, path: str) -> list[Route]:
        return intercept(self.context, f"{self.app}{path}")

    def _host_page(self, route: Route) -> None:
        code = CODE.format(app=self.app, id=self.embed.pk, more=self.attributes)
        body = html(self.before + code + self.after)
        route.fulfill(body=body, headers={"content-type": "text/html"} | self.headers)


def store_session(context: BrowserContext, app: str, account: Account) -> None:
    """Sign this person in in each panel of `app`."""
    token = jwt.issue_user_token(account)
    user = {"id": str(account.pk), "name": account.name, "handle": account.handle, "kind": account.kind}
    expires = jwt.expiry_of(token).isoformat()
    session = {
        "token": str(token),
        "userId": str(account.pk),
        "expiresAt": expires,
        "moderates": moderates_any(account),
        "user": user,
    }
    context.add_init_script(f"({SIGN_IN})({json.dumps([app, session])})")


def panel_frame(page: Page) -> Frame:
    return page.frames[-1]


def open_panel(page: Page) -> FrameLocator:
    """Press the trigger of a host page; return the panel when its thread is loaded and it can be pressed."""
    page.locator("community-embed button.trigger").click()
    panel = page.frame_locator("iframe")
    panel.locator(".thread[aria-busy=false]").wait_for()
    wait_until_drawn(page, panel.locator("h1"))
    return panel


def walk_menu(page: Page, *keys: str) -> None:
    """Open the menu of the button that has the focus, and press these keys when one of its entries has it."""
    page.keyboard.press("ArrowDown")
    page.locator("[role=menuitem]:focus").wait_for()
    for key in keys:
        page.keyboard.press(key)


def reopen(page: Page) -> None:
    """Reload a host page and open its panel again."""
    page.reload()
    open_panel(page)


def wait_until_drawn(page: Page, heading: Locator) -> None:
    """Wait until the frame of a panel gets the pointer: before its first drawing, the page around it gets presses."""
    for _ in range(PATIENCE_MS // 20):
        heading.hover()
        if heading.evaluate("(node) => node.matches(':hover')"):
            return
        page.wait_for_timeout(20)
    raise AssertionError("The panel is not drawn.")


def intercept(context: BrowserContext, url: str) -> list[Route]:
    """Return a list that collects the requests to a URL; they get no response until the test sends one."""
    pending: list[Route] = []

    def add(route: Route) -> None:
        pending.append(route)

    context.route(url, add)
    return pending


def wait_for_first(context: BrowserContext, pending: list[Route]) -> Route:
    """Wait for the first request in the list of `intercept`, and return it."""
    for _ in range(PATIENCE_MS // 10):
        if pending:
            break
        context.pages[0].wait_for_timeout(10)
    return pending[0]
