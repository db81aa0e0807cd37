"""Types of arguments, with the words that the tool list has about them."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

Url = Annotated[str, Meta(description="URL of the web page")]
PostId = Annotated[str, Meta(description="id of a post")]
Cursor = Annotated[str, Meta(description="nextCursor of the last call")]
