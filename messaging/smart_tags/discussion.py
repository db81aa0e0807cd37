"""Tags of a discussion: claims, evidence, questions, answers and corrections."""

from __future__ import annotations

from messaging.smart_tags.schemas import FRACTION, LINK, closed, described, list_of, one_of, text
from messaging.smart_tags.tag import SmartTag, TagType

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
