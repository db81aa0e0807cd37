"""Types of arguments, with the words that the tool list has about them."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

Url = Annotated[str, Meta(description="URL of the web page")]
PostId = str
Cursor = Annotated[str, Meta(description="nextCursor of the last call")]
Limit = Annotated[int, Meta(description="1 to 100, default 10")]
