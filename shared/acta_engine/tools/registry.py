"""The tool registry: the built-in tools, the environment's Python tools, then those that a tenant's admins added."""

from collections.abc import Callable, Iterator, Mapping, Set
from typing import Any

from acta_engine.agents.store import Snapshot
from acta_engine.errors import ToolInputInvalid
from acta_engine.people.approvers import NOBODY_NAMED, Approvers, with_approver
from acta_engine.tools.builtin.specs import builtins, with_environments
from acta_engine.tools.mcp.server import with_servers
from acta_engine.tools.python.catalogue import python_tools
from acta_engine.tools.tool import HttpConfig, ToolDefinition, ToolSpec
from acta_engine.untrusted.path import (
    NOT_HERE,
    PathRefused,
    check_new_path,
    check_shown_path,
    is_private,
)

FILE_TOOLS = ("read_file", "create_file", "delete_file")


class BuiltinRegistry:
    """A Registry with the built-in tools only."""

    def specs(self, tenant: str, agent_id: str) -> Mapping[str, ToolSpec]:
        return builtins()

    def check(self, spec: ToolSpec, arguments: Mapping[str, Any], *, private: bool = True) -> None:
        # The schema library is imported here, because few workers need it.
        from acta_engine.tools.schema.check import check_input

        check_input(spec, arguments)
        if spec.name in FILE_TOOLS:
            _check_path(spec.name, arguments["path"], private)
        if isinstance(spec, ToolDefinition) and isinstance(spec.config, HttpConfig):
            # refuses an argument that would change what the admin has fixed, or that cannot go where it has to
            from acta_engine.tools.tenant.parameters import request_of

            request_of(spec.name, spec.config, arguments)


def _check_path(tool: str, path: str, private: bool) -> None:
    """Raises ToolInputInvalid before a person is asked to approve a call with a path that is refused, or that they
    would not see as it is.
    """
    try:
        check_new_path(path) if tool == "create_file" else check_shown_path(path)
    except PathRefused as refused:
        raise ToolInputInvalid(f"{refused}. Use a relative path such as reports/may.md.") from None
    if is_private(path) and not private:
        raise ToolInputInvalid(f"{NOT_HERE}.")


class TenantRegistry(BuiltinRegistry):
    """A Registry with the tenant's own tools, too.

    `snapshot`: reads a tenant's definitions. It is `Definitions.last_snapshot` where the turn has read them already,
    else `Definitions.snapshot`. `weather`: `get_weather` is offered. `approvers`: roles that an operator names.
    `environment`: the environment's own tools that a tenant has.
    """

    def __init__(
        self,
        snapshot: Callable[[str], Snapshot],
        *,
        weather: bool,
        approvers: Approvers = NOBODY_NAMED,
        environment: Callable[[str], Mapping[str, ToolSpec]] = python_tools,
    ) -> None:
        self._snapshot = snapshot
        self._weather = weather
        self._approvers = approvers
        self._environment = environment

    def specs(self, tenant: str, agent_id: str) -> Mapping[str, ToolSpec]:
        def added() -> Mapping[str, ToolSpec]:
            read = self._snapshot(tenant)
            return with_servers(read.tools(), read.mcp_servers())

        offered = with_environments(self._environment(tenant), weather=self._weather)
        return _LazySpecs(
            offered, {*builtins(), *offered}, added, lambda spec: with_approver(spec, self._approvers, tenant)
        )


class _LazySpecs(Mapping[str, ToolSpec]):
    """Reads the tenant's definitions only when a tool is asked for that is not built in: most calls need none."""

    def __init__(
        self,
        offered: Mapping[str, ToolSpec],
        taken: Set[str],
        load: Callable[[], Mapping[str, ToolSpec]],
        seen: Callable[[ToolSpec], ToolSpec],
    ) -> None:
        """`offered`: what is there without the tenant's definitions. `taken`: names that no tool of the tenant's has.
        `seen`: a tool as it is for the tenant.
        """
        self._offered = offered
        self._taken = taken
        self._load = load
        self._seen = seen
        self._loaded: Mapping[str, ToolSpec] | None = None

    @property
    def _added(self) -> Mapping[str, ToolSpec]:
        if self._loaded is None:
            # A tenant's tool may have the name of one that a later release has built in or brings along, which wins.
            self._loaded = {name: spec for name, spec in self._load().items() if name not in self._taken}
        return self._loaded

    def __getitem__(self, name: str) -> ToolSpec:
        return self._seen(self._offered[name] if name in self._taken else self._added[name])

    def __iter__(self) -> Iterator[str]:
        yield from self._offered
        yield from self._added

    def __len__(self) -> int:
        return len(self._offered) + len(self._added)
