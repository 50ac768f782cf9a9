"""What agents, tools, prompts and memories have in common over HTTP.

Each is found by its name or id, and has an entity tag. It is changed or deleted only as the caller read it: where
`If-Match` (412) or a `version` (409) names another state, and where another request was faster, nothing is written.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from acta.engine.agents.applied import Applied
from acta.engine.agents.store import DefinitionChanged, DefinitionExists
from acta.engine.api.app import Api
from acta.engine.api.envelope import Response, no_content, success
from acta.engine.api.etag import admits, etag
from acta.engine.api.json_body import RequestBody
from acta.engine.errors import CallerError, Conflict, NotFound, PreconditionFailed

T = TypeVar("T")


class Applicable(RequestBody):
    """The body of a definition that `acta apply` may write from a file."""

    applied: Applied | None = None
    """The set of files that owns it, and the digest of its file. Absent: it stays as it was. null: no set owns it."""


class Resource(NamedTuple, Generic[T]):
    """One kind of definition of the caller's tenant."""

    api: Api
    find: Callable[[str, str], T | None]
    """By tenant and id or name."""
    view: Callable[[T], Mapping[str, Any]]
    tag: Callable[[T], str]
    missing: str
    """The message of 404."""
    changed: str
    """The message of 409 and 412."""
    stale: tuple[type[Exception], ...] = (DefinitionChanged, DefinitionExists)
    """What the store raises where the definition is not the one that it was given."""

    def get(self, name: str) -> T:
        """Raises NotFound."""
        found = self.find(self.api.caller.tenant, name)
        if found is None:
            raise self.not_found()
        return found

    def get_as_read(self, name: str, version: int | None = None) -> T:
        """Raises NotFound, and what `check_as_read` raises."""
        found = self.get(name)
        self.check_as_read(found, version)
        return found

    def check_as_read(self, found: T, version: int | None = None) -> None:
        """`version`: the one that the request names, if it names one. Raises what `refusal` returns where this version
        or `If-Match` names another state.
        """
        is_another = version is not None and version != getattr(found, "version", None)
        if is_another or not admits(self.api.request.headers.get("if-match"), self.tag(found)):
            raise self.refusal()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Around a write. Raises what `refusal` returns where another request was faster."""
        try:
            yield
        except self.stale:
            raise self.refusal() from None

    def replaced(self, replace: Callable[[str, T, T], None], old: T, new: T) -> Response:
        """`replace`: of the store. Raises what `writing` raises."""
        with self.writing():
            replace(self.api.caller.tenant, old, new)
        return self.answer(new)

    def deleted(self, delete: Callable[[str, T], None], old: T) -> Response:
        """`delete`: of the store. Raises what `writing` raises."""
        with self.writing():
            delete(self.api.caller.tenant, old)
        return no_content()

    def not_found(self) -> NotFound:
        return NotFound(self.missing)

    def refusal(self) -> CallerError:
        """For a request that names another state than there is, in `If-Match` (412) or by a version (409)."""
        is_conditional = "if-match" in self.api.request.headers
        return PreconditionFailed(self.changed) if is_conditional else Conflict(self.changed)

    def answer(self, one: T, **more: Any) -> Response:
        return success({**self.view(one), **more}, headers={"ETag": self.tag(one)})


def applied_after(body: Applicable, old: Applied | None) -> Applied | None:
    """Which files own the definition once the body is written."""
    return body.applied if "applied" in body.model_fields_set else old


class _Versioned(Protocol):
    @property
    def version(self) -> int: ...
    @property
    def created_at(self) -> datetime | None: ...


def version_tag(one: _Versioned) -> str:
    """A tag of version and creation time: versions start again when a definition is deleted and made again."""
    return etag(one.version, int(one.created_at.timestamp() * 1_000) if one.created_at else 0)
