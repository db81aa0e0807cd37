"""Follows a text for agents literally: its `http` blocks in order, with what it says about its capital words."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import orjson

from tests.api import Answer, Api

STEP = re.compile(r"^```http\n(?P<request>.*?)^```$|`(?P<word>[A-Z_]+)` is `(?P<key>\w+)` of the answer", re.M | re.S)
CAPITALS = re.compile(r"\b[A-Z]{2,}(?:_[A-Z]+)*\b")


@dataclass(slots=True)
class Reader:
    """`words` are what the reader knows beforehand; each answer adds to them as the text says."""

    words: dict[str, str]
    answers: list[tuple[str, Answer]] = field(default_factory=list)

    def follow(self, text: str) -> None:
        for step in STEP.finditer(text):
            if step["request"]:
                self.answers.append(self._send(step["request"]))
            else:
                _request, answer = self.answers[-1]
                self.words[step["word"]] = answer.json[step["key"]]

    def _send(self, block: str) -> tuple[str, Answer]:
        head, _blank, body = block.partition("\n\n")
        (method, url), *headers = (line.split(" ", 1) for line in head.splitlines())
        parts = urlsplit(self._filled(url))
        sent = {name.rstrip(":"): self._filled(value) for name, value in headers}
        path = f"{parts.path}?{parts.query}" if parts.query else parts.path
        content = self._filled(body).encode() if body else None
        answer = Api().send(method, path, body=orjson.loads(content) if content else None, headers=sent)
        assert answer.status < 300, (method, path, answer)
        return f"{method} {parts.path}", answer

    def _filled(self, text: str) -> str:
        return CAPITALS.sub(lambda word: self.words.get(word[0], word[0]), text)

    def last(self, request: str) -> Any:
        return next(answer.json for sent, answer in reversed(self.answers) if sent == request)
