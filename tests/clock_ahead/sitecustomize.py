"""Moves the clock of this Python process: imported at its start, as this folder is first on PYTHONPATH."""

import datetime
import os
import time
from typing import Any

AHEAD = float(os.environ["CLOCK_AHEAD_SECONDS"])
_datetime, _date, _time, _time_ns = datetime.datetime, datetime.date, time.time, time.time_ns


class _Meta(type):
    """Every datetime counts as an instance, also one that C code made."""

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, cls.__mro__[1])


class _Datetime(_datetime, metaclass=_Meta):
    def __new__(cls, *arguments: Any, **named: Any) -> Any:
        """One of Python's own: encoders in C know no other."""
        return _datetime.__new__(_datetime if cls is _Datetime else cls, *arguments, **named)

    @classmethod
    def now(cls, tz: Any = None) -> Any:
        return _datetime.now(tz) + datetime.timedelta(seconds=AHEAD)

    @classmethod
    def utcnow(cls) -> Any:
        return cls.now(datetime.UTC).replace(tzinfo=None)

    @classmethod
    def today(cls) -> Any:
        return cls.now()


class _Date(_date, metaclass=_Meta):
    def __new__(cls, *arguments: Any, **named: Any) -> Any:
        return _date.__new__(_date if cls is _Date else cls, *arguments, **named)

    @classmethod
    def today(cls) -> Any:
        return _Datetime.now().date()


_Datetime.__name__ = _Datetime.__qualname__ = "datetime"
_Date.__name__ = _Date.__qualname__ = "date"
_Datetime.__module__ = _Date.__module__ = "datetime"
datetime.datetime, datetime.date = _Datetime, _Date  # type: ignore[misc]
time.time = lambda: _time() + AHEAD
time.time_ns = lambda: _time_ns() + int(AHEAD * 1e9)
