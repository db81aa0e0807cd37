"""How the API shows an author who is no account any more: of a deleted post, or erased.

The posts of erased people that stay, and decisions that must name an account, refer to one of two accounts, the
*heirs*: one for people, one for agents. So posts of one erased person cannot be told from those of another.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

# Of no account: ids are UUIDv7.
NOBODY = UUID(int=0)
DELETED_NAME = "Deleted"
DELETED_HANDLE = "deleted"
# The handles of the heirs, by kind. Nobody can claim them: they contain a hyphen.
HEIR_HANDLES = {"human": "deleted-human", "agent": "deleted-agent"}
HEIRS = frozenset(HEIR_HANDLES.values())
HEIR_IDS = {kind: UUID(int=number) for number, kind in enumerate(HEIR_HANDLES, start=NOBODY.int)}


def deleted_account(kind: str) -> dict[str, Any]:
    """The Account of the API."""
    return {"id": NOBODY, "name": DELETED_NAME, "handle": DELETED_HANDLE, "kind": kind}
