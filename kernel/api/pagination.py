"""Keyset pagination: opaque, signed cursors that are bound to their list and its filters.

A page starts at a row comparison, `(created_at, id) < (x, y)`, for which PostgreSQL uses the index at any depth; for
the `OR` form and for `OFFSET` it does not.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar
from uuid import UUID

from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.pagination import BasePagination
from rest_framework.request import Request

from kernel.api import signing
from kernel.api.exceptions import InvalidCursor
from kernel.api.requests import Response

LIMIT_DEFAULT = 10
LIMIT_MAX = 100
MAC_BYTES = 12
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# (created_at, id), or (rank, created_at, id) for a list that is ordered by a number first.
Position = tuple[Any, ...]
FORMAT, RANKED_FORMAT = struct.Struct(">q16s"), struct.Struct(">dq16s")


@dataclass(frozen=True, slots=True)
class CursorPage:
    """The requested page of a list. `bound_to` names the list and its filters."""

    bound_to: str
    limit: int = LIMIT_DEFAULT
    after: Position | None = None

    @classmethod
    def of(cls, name: str, query: Mapping[str, Any], *, ranked: bool = False, **bound: Any) -> CursorPage:
        """From a validated ListQuery. Its other parameters, and `bound`, bind the cursor to this list.

        `ranked`: the list is ordered by a number first, which its positions begin with.
        """
        filters = {key: value for key, value in query.items() if key not in {"limit", "cursor"}} | bound
        bound_text, cursor = bound_to(name, filters), query.get("cursor")
        return cls(
            bound_to=bound_text,
            limit=min(query.get("limit") or LIMIT_DEFAULT, LIMIT_MAX),
            after=decode(cursor, bound_to=bound_text, ranked=ranked) if cursor is not None else None,
        )

    def cursor_at(self, position: Position) -> str:
        return encode(position, bound_to=self.bound_to)

    def paginate(self, queryset: QuerySet[Any]) -> tuple[list[Any], str | None]:
        """(rows, next cursor) of this page of `queryset`, newest first by (created_at, id)."""
        table = queryset.model._meta.db_table
        if self.after is not None:
            queryset = queryset.extra(  # noqa: S610  the ORM has no row comparison; the table name is a model's
                where=[f'("{table}"."created_at", "{table}"."id") < (%s, %s)'], params=list(self.after)
            )
        rows = queryset.order_by("-created_at", "-id")[: self.limit + 1]
        return self.split(list(rows), lambda row: (row.created_at, row.id))

    def split(self, rows: list[Any], position: Callable[[Any], Position]) -> tuple[list[Any], str | None]:
        """(rows, next cursor): drop the extra row, which shows that another page follows."""
        if len(rows) <= self.limit:
            return rows, None
        page = rows[: self.limit]
        return page, self.cursor_at(position(page[-1]))


class KeysetPagination(BasePagination):
    """DRF's interface to CursorPage.

    The viewset has `list_name` and `cursor_owner`, which cursors are bound to, and `results_key`, the key of the rows
    in the body.
    """

    def paginate_queryset(self, queryset: Any, request: Request, view: Any = None) -> list[Any]:
        self._results_key = view.results_key
        query = view.query() | view.filters | {view.cursor_owner: request.user.pk}
        page = CursorPage.of(view.list_name, query)
        rows, self._next_cursor = page.paginate(queryset)
        return rows

    def get_paginated_response(self, data: Any) -> Response:  # type: ignore[override]  # rendered at once
        return Response(envelope(self._results_key, data, self._next_cursor))


def bound_to(name: str, filters: Mapping[str, Any]) -> str:
    """The text that a cursor is signed with: the name of its list and the filters."""
    return name + "".join(f"\n{key}={value}" for key, value in sorted(filters.items()) if value is not None)


def envelope(results_key: str, results: list[Any], next_cursor: str | None) -> dict[str, Any]:
    """The body of every list of this service."""
    return {results_key: results, "hasMore": next_cursor is not None, "nextCursor": next_cursor}


class EnvelopeSerializer(serializers.Serializer[Any]):
    """What every list has beside its rows."""

    openapi_example: ClassVar[dict[str, Any]] = {"hasMore": False, "nextCursor": None}
    hasMore = serializers.BooleanField(
        help_text="Whether there is a next page, also after one with fewer rows than `limit`, or none."
    )
    nextCursor = serializers.CharField(allow_null=True, help_text="The `cursor` of the next page.")


def paginated(name: str, **results: Any) -> type[serializers.Serializer[Any]]:
    """The serializer class that describes `envelope`: `paginated("TokenList", tokens=TokenSerializer(many=True))`."""
    return type(name, (EnvelopeSerializer,), results)


def encode(position: Position, *, bound_to: str) -> str:
    """48 or 60 characters of base64url: rank, if any, microseconds since 1970, id, MAC."""
    *rank, created_at, row_id = position
    micros = (created_at - EPOCH) // timedelta(microseconds=1)
    packed = (RANKED_FORMAT if rank else FORMAT).pack(*rank, micros, row_id.bytes)
    return sign(packed, bound_to=bound_to)


def decode(text: str, *, bound_to: str, ranked: bool = False) -> Position:
    """Raises InvalidCursor (400) for any text that is not a cursor of this list."""
    packing = RANKED_FORMAT if ranked else FORMAT
    *rank, micros, row_id = packing.unpack(verify(text, packing.size, bound_to=bound_to))
    return *rank, EPOCH + timedelta(microseconds=micros), UUID(bytes=row_id)


def sign(packed: bytes, *, bound_to: str) -> str:
    """base64url of the packed position and its MAC."""
    return base64.urlsafe_b64encode(packed + _mac(next(signing.root_keys()), packed, bound_to)).decode()


def verify(text: str, size: int, *, bound_to: str) -> bytes:
    """The packed position of `size` bytes from the text of `sign`; raises InvalidCursor (400) for any other text."""
    try:
        raw = base64.b64decode(text.encode("ascii"), altchars=b"-_", validate=True)
    except (UnicodeEncodeError, binascii.Error):
        raise InvalidCursor from None
    packed, mac = raw[:size], raw[size:]
    if not any(hmac.compare_digest(mac, _mac(root, packed, bound_to)) for root in signing.root_keys()):
        raise InvalidCursor
    return packed


def _mac(root: str, packed: bytes, bound_to: str) -> bytes:
    return signing.mac(root, "cursor", packed + bound_to.encode())[:MAC_BYTES]
