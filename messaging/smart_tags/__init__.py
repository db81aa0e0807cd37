"""Smart tags: the kinds of posts with structured data.

A tag is a type and a payload. Types are fixed in code, so that a client that knows `review` may rely on its `rating`.
Each type but `note` refuses properties that it does not define; a new property needs a release of the service. Every
payload may contain `rationale`, the author's reasons as text.

A property is required only if the tag is meaningless without it (a poll without options), and then in every post with
that tag: a post without a payload is validated as `{}`.

Formats (`date`, `uri`, ...) are validated. The published schema contains the cap of `rationale` for clients; callers
check `RATIONALE_MAX` before they validate, because exceeding it is a 413.
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
