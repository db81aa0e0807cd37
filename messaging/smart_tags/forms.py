"""Tags with specific data: a rating, a probability, options, points, a marked passage, or any properties."""

from __future__ import annotations

from messaging.smart_tags.schemas import FRACTION, closed, described, list_of, one_of, open_to_any, text
from messaging.smart_tags.tag import SmartTag, TagType

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
