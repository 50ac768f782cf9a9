"""The tool registry: the builtins, then what the tenant's admins added, by name."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from shared.domain.definitions.builtins import builtins
from shared.domain.definitions.tool import ToolSpec
from shared.domain.errors import ToolInputInvalid
from shared.domain.untrusted.path import PathRefused, check_path
from shared.ports.definitions import Snapshot

FILE_TOOLS = ("read_file", "create_file", "delete_file")


class BuiltinRegistry:
    """The builtins alone."""

    def specs(self, tenant: str, agent_id: str) -> Mapping[str, ToolSpec]:
        return builtins()

    def check(self, spec: ToolSpec, arguments: Mapping[str, Any]) -> None:
        from shared.adapters.tools.schema import (
            check_input,
        )  # brings the schema library, which few workers need

        check_input(spec, arguments)
        if spec.name in FILE_TOOLS:
            _check_path(arguments["path"])


def _check_path(path: str) -> None:
    """Before anybody is asked to approve it: a path that the store refuses is no decision for a person."""
    try:
        check_path(path)
    except PathRefused as refused:
        raise ToolInputInvalid(f"{refused}. Use a relative path such as reports/may.md.") from None


class TenantRegistry(BuiltinRegistry):
    """`look`: how a tenant's definitions are seen. `Definitions.last_snapshot` for who has looked in this turn already,
    `Definitions.snapshot` for everybody else.
    """

    def __init__(self, look: Callable[[str], Snapshot]) -> None:
        self._look = look

    def specs(self, tenant: str, agent_id: str) -> Mapping[str, ToolSpec]:
        return _Specs(lambda: {tool.name: tool for tool in self._look(tenant).tools()})


class _Specs(Mapping[str, ToolSpec]):
    """Looks only when something is asked for that the builtins do not answer: most calls are of a builtin tool."""

    def __init__(self, added: Callable[[], Mapping[str, ToolSpec]]) -> None:
        self._load = added
        self._loaded: Mapping[str, ToolSpec] | None = None

    @property
    def _added(self) -> Mapping[str, ToolSpec]:
        if self._loaded is None:
            # what a later release has built in takes the place of a tool of that name
            self._loaded = {name: spec for name, spec in self._load().items() if name not in builtins()}
        return self._loaded

    def __getitem__(self, name: str) -> ToolSpec:
        return builtins()[name] if name in builtins() else self._added[name]

    def __iter__(self) -> Iterator[str]:
        yield from builtins()
        yield from self._added

    def __len__(self) -> int:
        return len(builtins()) + len(self._added)
