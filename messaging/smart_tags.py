"""Smart tags: the kinds of posts with structured data.

A tag is a type and a payload. Types are fixed in code, so that a client that knows `review` may rely on its `rating`.
Each type but `note` refuses properties that it does not define; a new property needs a release of the service. Every
payload may contain `rationale`, the author's reasons as text.

A property is required only if the tag is meaningless without it (a poll without options), and then in every post with
that tag: a post without a payload is validated as `{}`.

Formats (`date`, `uri`, ...) are validated. The published schema contains the cap of `rationale` for clients; callers
check `RATIONALE_MAX` before they validate, because exceeding it is a 413.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from types import MappingProxyType
from typing import Any, NamedTuple

from jsonschema_rs import Draft202012Validator, ValidationError

DIALECT = "https://json-schema.org/draft/2020-12/schema"
RATIONALE_MAX = 4_000
URL_MAX = 2_048

RATIONALE: dict[str, Any] = {
    "type": "string",
    "maxLength": RATIONALE_MAX,
    "description": "Why the author thinks so.",
}
LINK: dict[str, Any] = {
    "type": "string",
    "format": "uri",
    "pattern": "^[Hh][Tt][Tt][Pp][Ss]?://[^/?#]",
    "maxLength": URL_MAX,
}
FRACTION: dict[str, Any] = {"type": "number", "minimum": 0, "maximum": 1}


def text(longest: int) -> dict[str, Any]:
    """A string of 1 to `longest` characters, not all of them white space."""
    return {"type": "string", "minLength": 1, "maxLength": longest, "pattern": r"\S"}


def list_of(item: dict[str, Any], *, least: int = 0, most: int) -> dict[str, Any]:
    return {"type": "array", "items": item, "minItems": least, "maxItems": most, "uniqueItems": True}


def one_of(*values: str) -> dict[str, Any]:
    return {"type": "string", "enum": list(values)}


def described(schema: dict[str, Any], description: str) -> dict[str, Any]:
    return {**schema, "description": description}


def closed(properties: dict[str, Any], *, required: tuple[str, ...] = ()) -> dict[str, Any]:
    """An object with only these properties and `rationale`."""
    return {**_object({**properties, "rationale": RATIONALE}, required), "additionalProperties": False}


def open_to_any() -> dict[str, Any]:
    """An object with any properties; `rationale` is text."""
    return _object({"rationale": RATIONALE}, ())


def _object(properties: dict[str, Any], required: tuple[str, ...]) -> dict[str, Any]:
    needed = {"required": list(required)} if required else {}
    return {"$schema": DIALECT, "type": "object", "properties": properties, **needed}


class TagType(StrEnum):
    CLAIM = "claim"
    EVIDENCE = "evidence"
    QUESTION = "question"
    ANSWER = "answer"
    CORRECTION = "correction"
    REVIEW = "review"
    PREDICTION = "prediction"
    POLL = "poll"
    SUMMARY = "summary"
    HIGHLIGHT = "highlight"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class SmartTag:
    """A kind of post. `description` is one sentence on its use; `example` is valid by `payload_schema`."""

    type: TagType
    title: str
    description: str
    payload_schema: dict[str, Any]
    example: dict[str, Any]

    @property
    def is_open(self) -> bool:
        """Whether authors choose the property names of the payload."""
        return self.payload_schema.get("additionalProperties", True) is not False


SOURCES = list_of(LINK, most=20)

CLAIM = SmartTag(
    TagType.CLAIM,
    "Claim",
    "Use it for a statement that can be true or false, so that others can answer it with evidence.",
    closed(
        {
            "statement": described(text(1_000), "The claim in one sentence."),
            "confidence": described(FRACTION, "How sure the author is: 0 not at all, 1 certain."),
            "sources": SOURCES,
        }
    ),
    {
        "statement": "The bridge opened in 1932.",
        "confidence": 0.9,
        "sources": ["https://example.org/bridge"],
        "rationale": "Two newspapers of that year report the opening.",
    },
)

EVIDENCE = SmartTag(
    TagType.EVIDENCE,
    "Evidence",
    "Use it for a source or an observation that supports or refutes what it replies to.",
    closed(
        {
            "stance": described(one_of("supports", "refutes", "context"), "What it does to the post it replies to."),
            "url": described(LINK, "Where it can be read."),
            "title": text(300),
            "excerpt": described(text(4_000), "The words of the source that matter."),
            "publishedOn": {"type": "string", "format": "date"},
        }
    ),
    {
        "stance": "supports",
        "url": "https://example.org/archive/1932-03-19",
        "title": "Opening of the bridge",
        "excerpt": "The ribbon was cut at ten in the morning.",
        "publishedOn": "1932-03-19",
    },
)

QUESTION = SmartTag(
    TagType.QUESTION,
    "Question",
    "Use it to ask something that one reply can answer.",
    closed({"question": described(text(1_000), "The question in one sentence."), "topics": list_of(text(60), most=10)}),
    {"question": "Who paid for the bridge?", "topics": ["history"]},
)

ANSWER = SmartTag(
    TagType.ANSWER,
    "Answer",
    "Use it on a reply that answers the question it replies to.",
    closed({"answer": described(text(4_000), "The answer in short."), "confidence": FRACTION, "sources": SOURCES}),
    {"answer": "The state, by tolls.", "confidence": 0.8, "sources": ["https://example.org/tolls"]},
)

CORRECTION = SmartTag(
    TagType.CORRECTION,
    "Correction",
    "Use it to put right a passage of the page or of a post: what it says, and what it should say.",
    closed(
        {
            "original": described(text(4_000), "What it says now."),
            "corrected": described(text(4_000), "What it should say."),
            "sources": SOURCES,
        },
        required=("original", "corrected"),
    ),
    {"original": "opened in 1923", "corrected": "opened in 1932", "sources": ["https://example.org/bridge"]},
)

DISCUSSION = (CLAIM, EVIDENCE, QUESTION, ANSWER, CORRECTION)


RATING_MIN = 1
RATING_MAX = 5
OPTIONS_MIN = 2
OPTIONS_MAX = 20

REVIEW = SmartTag(
    TagType.REVIEW,
    "Review",
    "Use it to rate what the page is about.",
    closed(
        {
            "rating": {
                "type": "number",
                "minimum": RATING_MIN,
                "maximum": RATING_MAX,
                "description": "1 is worst, 5 is best.",
            },
            "subject": described(text(200), "What is rated, where the page is about several things."),
            "pros": list_of(text(300), most=20),
            "cons": list_of(text(300), most=20),
        },
        required=("rating",),
    ),
    {"rating": 4.5, "subject": "The bridge tour", "pros": ["The view"], "cons": ["Long queue"]},
)

PREDICTION = SmartTag(
    TagType.PREDICTION,
    "Prediction",
    "Use it for a forecast that a later day can prove right or wrong.",
    closed(
        {
            "statement": described(text(1_000), "What will have happened by the due date."),
            "probability": described(FRACTION, "0 impossible, 1 certain."),
            "dueDate": {"type": "string", "format": "date", "description": "The day on which it is judged."},
        },
        required=("probability", "dueDate"),
    ),
    {"statement": "The bridge toll ends.", "probability": 0.35, "dueDate": "2027-12-31"},
)

POLL = SmartTag(
    TagType.POLL,
    "Poll",
    "Use it to put options to the readers.",
    closed(
        {
            "question": text(1_000),
            "options": list_of(text(200), least=OPTIONS_MIN, most=OPTIONS_MAX),
            "multiple": {"type": "boolean", "description": "Whether a reader may choose several."},
            "closesAt": {"type": "string", "format": "date-time"},
        },
        required=("options",),
    ),
    {
        "question": "Should the bridge be repainted?",
        "options": ["Yes", "No", "Only the railing"],
        "multiple": False,
        "closesAt": "2027-01-31T12:00:00Z",
    },
)

SUMMARY = SmartTag(
    TagType.SUMMARY,
    "Summary",
    "Use it for a short account of the page or of its thread.",
    closed(
        {
            "scope": described(one_of("page", "thread"), "What is summed up."),
            "points": described(list_of(text(1_000), most=50), "The points, most important first."),
        }
    ),
    {"scope": "page", "points": ["The bridge opened in 1932.", "Its toll pays for repairs."]},
)

HIGHLIGHT = SmartTag(
    TagType.HIGHLIGHT,
    "Highlight",
    "Use it to mark a passage of the page; the passage itself goes into `anchorText`.",
    closed({"color": one_of("yellow", "green", "blue", "pink", "purple"), "comment": text(1_000)}),
    {"color": "yellow", "comment": "The date is given here."},
)

NOTE = SmartTag(
    TagType.NOTE,
    "Note",
    "Use it for data of your own that fits no other tag: any properties are allowed.",
    open_to_any(),
    {"runId": "2026-11-20-7", "measured": {"seconds": 12.5}, "rationale": "Measured by the nightly run."},
)

FORMS = (REVIEW, PREDICTION, POLL, SUMMARY, HIGHLIGHT, NOTE)


# In the order in which the API lists them.
SMART_TAGS: Mapping[str, SmartTag] = MappingProxyType({tag.type.value: tag for tag in (*DISCUSSION, *FORMS)})


def is_known(tag_type: str) -> bool:
    return tag_type in SMART_TAGS


def is_open(tag_type: str | None) -> bool:
    """Whether authors choose the property names of the payload."""
    return tag_type is not None and SMART_TAGS[tag_type].is_open


PROBLEMS_MAX = 10
MESSAGE_MAX = 200

# `mask` omits the payload's values, up to 64 KB each, from the messages.
_VALIDATORS = {
    tag_type: Draft202012Validator(tag.payload_schema, validate_formats=True, mask="The value", offline=True)
    for tag_type, tag in SMART_TAGS.items()
}


class Problem(NamedTuple):
    """An error in a payload; `pointer` is an RFC 6901 JSON pointer to it (`""`: the whole payload)."""

    pointer: str
    message: str


def validate_payload(tag_type: str, payload: Mapping[str, Any] | None) -> list[Problem]:
    """The first `PROBLEMS_MAX` problems of a payload; none if it is valid. None is validated as `{}`.

    Raises KeyError if the tag type is unknown.
    """
    errors = _VALIDATORS[tag_type].iter_errors
    try:
        return [_problem(error) for error in islice(errors({} if payload is None else payload), PROBLEMS_MAX)]
    except ValueError:
        # The validator supports at most 255 levels and only valid Unicode.
        return [Problem("", "The value is nested too deeply or is not valid text")]


def _problem(error: ValidationError) -> Problem:
    # A path contains only names from the schemas, which need no escaping in a pointer.
    pointer = "".join(f"/{step}" for step in error.instance_path)
    message = error.message
    return Problem(pointer, message if len(message) <= MESSAGE_MAX else message[: MESSAGE_MAX - 1] + "…")
