"""What a site copies to its server: a function that signs tokens, in languages of servers, without packages."""

from __future__ import annotations

from pathlib import Path
from uuid import UUID

FOLDER = Path(__file__).parent
# The names of files, and those that people use.
LANGUAGES = {"python": "Python", "php": "PHP", "node": "Node", "ruby": "Ruby", "go": "Go"}


def server_code(language: str, *, embed_id: UUID) -> str:
    return (FOLDER / f"{language}.txt").read_text(encoding="utf-8").replace("{embed_id}", str(embed_id))
