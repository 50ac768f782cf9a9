"""The tool registry: the built-in tools, the environment's Python tools, then those that a tenant's admins added.

The environment's tools are in a file beside this module (ADR 87). The file is made when Acta is built, from what
`@tool` says of each function, and is part of the zips. So no store is asked for it, and it is always of the same
release as the code. An environment without folders of Python functions has no file.
"""

import hashlib
import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set
from functools import cache
from pathlib import Path
from typing import Any

from acta_engine.agents.store import DefinitionSnapshot
from acta_engine.errors import ToolInputInvalid
from acta_engine.tools.builtin import builtins, offered
from acta_engine.tools.tool import (
    NOBODY_NAMED,
    Approvers,
    BuiltinTool,
    HttpConfig,
    PythonTool,
    ToolDefinition,
    ToolSpec,
    function_prefix,
    is_high_stakes_unless_said,
    with_approver,
)

FILE = Path(__file__).with_name("python_catalogue.json")


@cache
def catalogue() -> Mapping[str, PythonTool]:
    """All of the environment's tools by name, read once per process."""
    try:
        text = FILE.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    tools = [PythonTool.model_validate(each) for each in json.loads(text)["tools"]]
    return {tool.name: tool for tool in tools}


def python_tools(tenant: str) -> Mapping[str, PythonTool]:
    """Those that the tenant has, by name. The others do not exist for it."""
    return {name: tool for name, tool in catalogue().items() if tool.is_for(tenant)}


def from_spec(spec: Mapping[str, Any], folder: str, environment: str, tenants: Sequence[str]) -> PythonTool:
    """`spec`: of `acta.tools.define.Tool.to_spec`. `tenants`: who has the folder's tools. Raises Unusable for a schema
    that no tool may have, and pydantic's ValidationError.
    """
    from acta_engine.tools.tenant.definition import check_schema  # only where a catalogue is made

    stakes = spec.get("high_stakes")
    if stakes is None:
        stakes = is_high_stakes_unless_said(spec["name"], spec["effect"], spec["risk"])
    said = {**spec, "high_stakes": stakes}
    digest = hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:16]
    check_schema(spec["input_schema"])
    return PythonTool(
        **said,
        folder=folder,
        function=f"{function_prefix(environment)}{folder}",
        tenants=tuple(tenants),
        digest=digest,
    )


class BuiltinRegistry:
    """A Registry with the built-in tools only."""

    def specs(self, tenant: str, agent_id: str) -> Mapping[str, ToolSpec]:
        return builtins()

    def check(self, spec: ToolSpec, arguments: Mapping[str, Any], *, private: bool = True) -> None:
        # The schema library is imported here, because few workers need it.
        from acta_engine.tools.schema import check_input

        check_input(spec, arguments)
        if isinstance(spec, BuiltinTool) and (problem := spec.path_problem(arguments, private=private)):
            raise ToolInputInvalid(problem)
        if isinstance(spec, ToolDefinition) and isinstance(spec.config, HttpConfig):
            # refuses an argument that would change what the admin has fixed, or that cannot go where it has to
            from acta_engine.tools.tenant.parameters import request_of

            request_of(spec.name, spec.config, arguments)


class TenantRegistry(BuiltinRegistry):
    """A Registry with the tenant's own tools, too.

    `snapshot`: reads a tenant's definitions. It is `Definitions.last_snapshot` where the turn has read them already,
    else `Definitions.snapshot`. `optional`: the optional built-in tools that are offered. `approvers`: roles that an
    operator names.
    `environment`: the environment's own tools that a tenant has.
    """

    def __init__(
        self,
        snapshot: Callable[[str], DefinitionSnapshot],
        *,
        optional: Collection[str] = (),
        approvers: Approvers = NOBODY_NAMED,
        environment: Callable[[str], Mapping[str, ToolSpec]] = python_tools,
    ) -> None:
        self._snapshot = snapshot
        self._optional = optional
        self._approvers = approvers
        self._environment = environment

    def specs(self, tenant: str, agent_id: str) -> Mapping[str, ToolSpec]:
        def added() -> Mapping[str, ToolSpec]:
            read = self._snapshot(tenant)
            tools, servers = read.tools(), read.mcp_servers()
            if not servers:  # as for most tenants
                return {tool.name: tool for tool in tools}
            from acta_engine.tools.mcp.server import with_servers

            return with_servers(tools, servers)

        first = offered(self._optional, self._environment(tenant))
        return _LazySpecs(
            first, {*builtins(), *first}, added, lambda spec: with_approver(spec, self._approvers, tenant)
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
        """`offered`: the tools that need none of the tenant's definitions. `taken`: names that no definition of the
        tenant may have. `seen`: turns a tool into what it is for the tenant.
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
