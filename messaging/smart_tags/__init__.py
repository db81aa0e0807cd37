"""Smart tags: what a post can declare itself to be, and the data that goes with it.

A tag is a type and a payload. Types are fixed in code, for a type is a promise to every reader of the API: a client
that knows `review` may rely on its `rating`. So each type but `note` refuses properties that it does not name, and a
new property is a new release of the service. Every payload may carry `rationale`, the author's reasons in words.

Nothing is required beyond what the tag is meaningless without (a poll without options), and what is required is
required of every post with that tag: a post that brings no payload is checked as if it had brought `{}`.

Formats (`date`, `uri`, ...) are asserted, not merely noted. The cap of `rationale` stands in the published schema, so
that clients see it; callers answer 413 for it, and so compare with `RATIONALE_MAX` before they validate.
"""

from messaging.smart_tags.registry import SMART_TAGS, is_known, is_open
from messaging.smart_tags.schemas import RATIONALE_MAX
from messaging.smart_tags.tag import SmartTag, TagType
from messaging.smart_tags.validation import PROBLEMS_MAX, Problem, validate_payload

__all__ = [
    "PROBLEMS_MAX",
    "RATIONALE_MAX",
    "SMART_TAGS",
    "Problem",
    "SmartTag",
    "TagType",
    "is_known",
    "is_open",
    "validate_payload",
]
