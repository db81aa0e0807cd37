"""Make one declared call a method of both clients, typed for each."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from functools import wraps
from types import MethodType
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, overload

from community_messaging.steps import Steps
from community_messaging.transports import AsyncTransport, SyncTransport

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


class call(Generic[Arguments, Result]):  # noqa: N801  a decorator
    """A method that returns a value; of AsyncClient, one to await."""

    def __init__(self, declared: Callable[Concatenate[Any, Arguments], Steps[Result]]) -> None:
        self.declared = declared
        self.__doc__ = declared.__doc__

    @overload
    def __get__(self, instance: None, owner: type) -> Callable[..., Any]: ...
    @overload
    def __get__(self, instance: SyncTransport, owner: type) -> Callable[Arguments, Result]: ...
    @overload
    def __get__(self, instance: AsyncTransport, owner: type) -> Callable[Arguments, Coroutine[Any, Any, Result]]: ...
    def __get__(self, instance: Any, owner: type) -> Any:
        return self.declared if instance is None else _method(self.declared, instance, "run")


class Listing(Generic[Arguments, Result]):
    """A method that returns an iterator; of AsyncClient, an asynchronous one."""

    def __init__(self, declared: Callable[Concatenate[Any, Arguments], Steps[None]]) -> None:
        self.declared = declared
        self.__doc__ = declared.__doc__

    @overload
    def __get__(self, instance: None, owner: type) -> Callable[..., Any]: ...
    @overload
    def __get__(self, instance: SyncTransport, owner: type) -> Callable[Arguments, Generator[Result, None, None]]: ...
    @overload
    def __get__(self, instance: AsyncTransport, owner: type) -> Callable[Arguments, AsyncGenerator[Result, None]]: ...
    def __get__(self, instance: Any, owner: type) -> Any:
        return self.declared if instance is None else _method(self.declared, instance, "iterate")


def listing(
    item: type[Result],
) -> Callable[[Callable[Concatenate[Any, Arguments], Steps[None]]], Listing[Arguments, Result]]:
    """Declare a method that returns an iterator of `item`."""
    return Listing


def _method(declared: Callable[..., Steps[Any]], instance: Any, perform: str) -> Callable[..., Any]:
    bound = MethodType(declared, instance)

    @wraps(bound)
    def method(*arguments: Any, **options: Any) -> Any:
        return getattr(instance, perform)(bound(*arguments, **options))

    return method
