"""How a method that is written once, as a flow, is called in both clients.

A class of methods is inherited by a `Waiting` and by an `Awaiting` class. `@operation` has a method of the one return T
and of the other an awaitable of T; `@listing` an iterator and an asynchronous one. Type checkers see that, too.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from functools import update_wrapper
from types import MethodType
from typing import Any, Concatenate, Generic, ParamSpec, Self, TypeVar, overload

from acta.client.callers import AsyncCaller, Caller
from acta.client.flows import Flow, Stream

P = ParamSpec("P")
T = TypeVar("T")


class Waiting:
    """Its methods return when the answer is there."""

    def __init__(self, caller: Caller) -> None:
        self.caller = caller


class Awaiting:
    """Its methods are awaited, its listings are iterated over with `async for`."""

    def __init__(self, caller: AsyncCaller) -> None:
        self.caller = caller


class operation(Generic[P, T]):  # noqa: N801  # used as a decorator
    def __init__(self, flow: Callable[Concatenate[Any, P], Flow[T]]) -> None:
        self.flow = flow
        self.__doc__ = flow.__doc__

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...
    @overload
    def __get__(self, instance: Waiting, owner: type) -> Callable[P, T]: ...
    @overload
    def __get__(self, instance: Awaiting, owner: type) -> Callable[P, Awaitable[T]]: ...
    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None:
            return self
        flow: Callable[..., Any] = MethodType(self.flow, instance)
        return update_wrapper(lambda *args, **named: instance.caller.run(flow(*args, **named)), flow)


class listing(Generic[P, T]):  # noqa: N801  # used as a decorator
    def __init__(self, stream: Callable[Concatenate[Any, P], Stream[T]]) -> None:
        self.stream = stream
        self.__doc__ = stream.__doc__

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...
    @overload
    def __get__(self, instance: Waiting, owner: type) -> Callable[P, Iterator[T]]: ...
    @overload
    def __get__(self, instance: Awaiting, owner: type) -> Callable[P, AsyncIterator[T]]: ...
    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None:
            return self
        stream: Callable[..., Any] = MethodType(self.stream, instance)
        return update_wrapper(lambda *args, **named: instance.caller.iterate(stream(*args, **named)), stream)
