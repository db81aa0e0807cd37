"""Reads both formats of a feed, and checks them against their specifications."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from html.parser import HTMLParser
from typing import Any
from xml.etree import ElementTree

import orjson
from jsonschema_rs import Draft202012Validator

from tests.api import Answer, Api

NAMESPACE = "{http://www.w3.org/2005/Atom}"
TEXT = {"type": "string", "minLength": 1}
URL = TEXT | {"format": "uri"}
TIME = TEXT | {"format": "date-time"}


def closed(**properties: Any) -> dict[str, Any]:
    """The schema of an object with all of these fields, and no other."""
    return {"type": "object", "required": [*properties], "additionalProperties": False, "properties": properties}


AUTHOR = {"type": "object", "required": ["name"], "properties": {"name": TEXT}}
ITEM = closed(
    id=TEXT,
    url=URL,
    external_url=URL,
    title=TEXT,
    content_text={"type": "string"},
    content_html={"type": "string"},
    date_published=TIME,
    date_modified=TIME,
    authors={"type": "array", "minItems": 1, "items": AUTHOR},
    _community=closed(authorKind={"enum": ["human", "agent"]}),
)
# The fields of https://www.jsonfeed.org/version/1.1/ that these feeds have; others would be a mistake.
JSON_FEED = closed(
    version={"const": "https://jsonfeed.org/version/1.1"},
    title=TEXT,
    home_page_url=URL,
    feed_url=URL,
    items={"type": "array", "items": ITEM},
)
VALIDATOR = Draft202012Validator(JSON_FEED, validate_formats=True)


@dataclass(frozen=True, slots=True)
class Item:
    id: str
    url: str
    page_url: str
    title: str
    html: str
    author: str
    published: datetime
    updated: datetime

    @property
    def text(self) -> str:
        """What a reader shows of the HTML."""
        return text_of(self.html)


@dataclass(frozen=True, slots=True)
class Feed:
    title: str
    home: str
    url: str
    items: list[Item]
    updated: datetime | None = None
    id: str | None = None


def text_of(html: str) -> str:
    shown = _Shown()
    shown.feed(html)
    shown.close()
    return shown.text


class _Shown(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag == "br":
            self.text += "\n"

    def handle_data(self, data: str) -> None:
        self.text += data


def get(path: str, extension: str, **options: Any) -> Answer:
    answer = Api().get(f"{path}.{extension}", **options)
    assert answer.status == 200, answer.body
    return answer


def read(path: str, extension: str) -> Feed:
    body = get(path, extension).body
    return read_atom(body) if extension == "atom" else read_json(body)


def read_both(path: str) -> Feed:
    """The feed; both formats have the same items."""
    atom, json = read(path, "atom"), read(path, "json")
    assert (json.title, json.home, json.items) == (atom.title, atom.home, atom.items)
    return atom


def read_json(body: bytes) -> Feed:
    document = orjson.loads(body)
    assert not list(VALIDATOR.iter_errors(document))
    items = [
        Item(
            id=item["id"],
            url=item["url"],
            page_url=item["external_url"],
            title=item["title"],
            html=item["content_html"],
            author=item["authors"][0]["name"],
            published=datetime.fromisoformat(item["date_published"]),
            updated=datetime.fromisoformat(item["date_modified"]),
        )
        for item in document["items"]
    ]
    return Feed(document["title"], document["home_page_url"], document["feed_url"], items)


def read_atom(body: bytes) -> Feed:
    """Parse by expat, which refuses a document that is not well-formed, and check the rules of RFC 4287, section 4."""
    root = ElementTree.fromstring(body)
    assert root.tag == f"{NAMESPACE}feed"
    assert all(element.tag.startswith(NAMESPACE) for element in root.iter()), "no element is of another vocabulary"
    return Feed(
        title=_text(root, "title"),
        home=_link(root, "alternate"),
        url=_link(root, "self"),
        id=_text(root, "id"),
        updated=_time(root, "updated"),
        items=[_entry(entry) for entry in root.findall(f"{NAMESPACE}entry")],
    )


def _entry(entry: ElementTree.Element) -> Item:
    (author,) = entry.findall(f"{NAMESPACE}author")
    (content,) = entry.findall(f"{NAMESPACE}content")
    assert content.attrib == {"type": "html"}
    assert len(content) == 0
    return Item(
        id=_text(entry, "id"),
        url=_link(entry, "alternate"),
        page_url=_link(entry, "related"),
        title=_text(entry, "title"),
        html=content.text or "",
        author=_text(author, "name"),
        published=_time(entry, "published"),
        updated=_time(entry, "updated"),
    )


def _text(parent: ElementTree.Element, name: str) -> str:
    """The text of the only child of this name. An element in it would be markup."""
    (element,) = parent.findall(NAMESPACE + name)
    assert len(element) == 0
    assert element.get("type", "text") == "text"
    return element.text or ""


def _time(parent: ElementTree.Element, name: str) -> datetime:
    time = datetime.fromisoformat(_text(parent, name))
    assert time.tzinfo is not None
    return time


def _link(parent: ElementTree.Element, relation: str) -> str:
    (link,) = (link for link in parent.findall(f"{NAMESPACE}link") if link.get("rel") == relation)
    return link.attrib["href"]
