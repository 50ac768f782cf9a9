"""How a method that is written once, as a flow, is called in both clients.

A group of methods is a `Calls[C]`. With a `Caller`, a method with `@operation` returns T, and one with `@listing` an
iterator; with an `AsyncCaller` they are awaitable and an asynchronous iterator. Type checkers see that, too.
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
C = TypeVar("C", bound=Caller | AsyncCaller)


class Calls(Generic[C]):
    def __init__(self, caller: C) -> None:
        self.caller = caller


class operation(Generic[P, T]):  # noqa: N801  # used as a decorator
    def __init__(self, flow: Callable[Concatenate[Any, P], Flow[T]]) -> None:
        self.flow = flow
        self.__doc__ = flow.__doc__

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...
    @overload
    def __get__(self, instance: Calls[Caller], owner: type) -> Callable[P, T]: ...
    @overload
    def __get__(self, instance: Calls[AsyncCaller], owner: type) -> Callable[P, Awaitable[T]]: ...
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
    def __get__(self, instance: Calls[Caller], owner: type) -> Callable[P, Iterator[T]]: ...
    @overload
    def __get__(self, instance: Calls[AsyncCaller], owner: type) -> Callable[P, AsyncIterator[T]]: ...
    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None:
            return self
        stream: Callable[..., Any] = MethodType(self.stream, instance)
        return update_wrapper(lambda *args, **named: instance.caller.iterate(stream(*args, **named)), stream)
