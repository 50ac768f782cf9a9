"""Whose work this invocation does (ADR 48), who asks for it (ADR 50), and how log lines name the tenant (ADR 77).

The tenant is bound once, where a handler knows it for certain: from the verified token, or from the engine's payload.
From there on the store gives this invocation that tenant's data and no other's, whatever tenant the code below names
(`acta/engine/aws/tenant_credentials.py`). Where nothing is bound, it gives what belongs to the deployment.
"""

from __future__ import annotations

import hmac
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple, ParamSpec, TypeVar

from acta.engine.settings import PREFIX

if TYPE_CHECKING:  # who may see what asks here who is bound
    from acta.engine.people.visibility import Viewer

TENANT_PATTERN = r"[A-Za-z0-9][A-Za-z0-9._@+:-]{0,127}"
"""A tenant is part of keys and prefixes, so it has none of their separators and nothing invisible."""
P = ParamSpec("P")
T = TypeVar("T")


class Binding(NamedTuple):
    """`since`: seconds since 1970, when the invocation began to work for the tenant. `viewer`: the person whose request
    it is; None: the engine's work.
    """

    tenant: str
    since: float
    viewer: Viewer | None = None


_bound: ContextVar[Binding | None] = ContextVar("bound_tenant", default=None)


def bound() -> Binding | None:
    return _bound.get()


@contextmanager
def bound_to(tenant: str, viewer: Viewer | None = None) -> Iterator[None]:
    """Raises RuntimeError where another tenant is bound already: an invocation works for one."""
    before = _bound.get()
    if before is not None and before.tenant != tenant:
        raise RuntimeError("this invocation is bound to another tenant already")
    with _set(Binding(tenant, time.time(), viewer)):
        yield


@contextmanager
def as_deployment() -> Iterator[None]:
    """For the few items that belong to no tenant, whoever asks for them."""
    with _set(None):
        yield


def carried(work: Callable[P, T]) -> Callable[P, T]:
    """The same work for another thread, which does it for the tenant that is bound here and now."""
    binding = _bound.get()

    def carry(*args: P.args, **kwargs: P.kwargs) -> T:
        with _set(binding):
            return work(*args, **kwargs)

    return carry


@contextmanager
def _set(binding: Binding | None) -> Iterator[None]:
    before = _bound.set(binding)
    try:
        yield
    finally:
        _bound.reset(before)


HASH_CHARS = 16


def tenant_hash(tenant: str, deployment: str | None = None) -> str:
    """How log lines name a tenant: by a hash that is the same in all functions of a deployment.

    `deployment`: the name of its table, which no log has; None: this function's. It keeps names of tenants out of logs
    that are sent elsewhere. Whoever may read the deployment's configuration can try names.
    """
    key = os.environ.get(f"{PREFIX}TABLE", "") if deployment is None else deployment
    return hmac.new(key.encode(), tenant.encode("utf-8", "surrogatepass"), sha256).hexdigest()[:HASH_CHARS]
