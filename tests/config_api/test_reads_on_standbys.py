"""Which public reads may run on a standby."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator

from django.urls import get_resolver

from kernel.api.credentials import CredentialKind
from kernel.api.operations import _routes, operation_of
from tests.service import ROOT

# They run on the primary: docs/cluster.md says why.
ON_THE_PRIMARY = {"listChanges"}
BY_A_VIEWSET = re.compile(r"self\.read(_uncached)?\(")
OWN_METHOD = re.compile(r"self\.(_\w+)\(")


def public_reads() -> Iterator[tuple[str, str]]:
    """The id of each public GET that is no stream, and its source."""
    for _path, view in _routes(get_resolver().url_patterns):
        action = (getattr(view, "actions", None) or {}).get("get")
        declared = operation_of(view, "get") if action else None
        if declared is not None and CredentialKind.PUBLIC in declared.callers and declared.event is None:
            yield declared.id, source(view.cls, action)


def source(view: type, method: str) -> str:
    """Of an action and of the methods that it calls."""
    own = inspect.getsource(getattr(view, method))
    return own + "".join(inspect.getsource(getattr(view, name)) for name in OWN_METHOD.findall(own))


def test_every_public_read_may_run_on_a_standby_but_the_named_ones() -> None:
    reads = dict(public_reads())
    assert len(reads) > 10
    assert {operation for operation, text in reads.items() if not BY_A_VIEWSET.search(text)} == ON_THE_PRIMARY


def test_the_reads_that_run_on_the_primary_are_documented() -> None:
    text = (ROOT / "docs" / "cluster.md").read_text()
    assert all(operation in text for operation in ON_THE_PRIMARY)
