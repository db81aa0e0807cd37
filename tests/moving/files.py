"""The samples of foreign exports, what is known of them, and how tests read files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from moving import formats
from moving.formats import Post, Record, Unusable

SAMPLES = Path(__file__).with_name("samples")
FACTS: dict[str, Any] = json.loads((SAMPLES / "facts.json").read_text())
FORMATS = {
    "disqus.xml": "disqus",
    "wordpress.xml": "wordpress",
    "remark42-backup.gz": "remark42",
    "remark42-stream.jsonl": "remark42",
    "isso.db": "isso",
    "commento.json": "commento",
}
# The small samples by format: what each has, tests/moving/formats/test_origins.py says.
ORIGINS = {
    "comentario": "comentario.json.gz",
    "waline": "waline.json",
    "twikoo": "twikoo.json",
    "artalk": "artalk.artrans",
    "cusdis": "cusdis.db",
}
# The exports of which a post is a part of a text.
TEXTS = ["disqus.xml", "wordpress.xml", "remark42-stream.jsonl", "commento.json"]


def read(format: str, path: Path) -> list[Record]:
    return list(formats.read(format, path))


def read_sample(name: str) -> list[Record]:
    return read(FORMATS[name], SAMPLES / name)


def posts(records: list[Record]) -> list[Post]:
    return [record for record in records if isinstance(record, Post)]


def reasons(records: list[Record]) -> list[str]:
    return [record.reason for record in records if isinstance(record, Unusable)]
