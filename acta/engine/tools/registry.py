"""The tool registry: the built-in tools, the environment's Python tools, then those that a tenant's admins added.

Finding a tenant's tools does not load what checks their inputs (`tools_of` in `acta/engine/tools/tool.py`).
"""

import hashlib
import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from acta.engine.agents.store import DefinitionSnapshot
from acta.engine.errors import ToolInputInvalid
from acta.engine.tools.builtin import builtins
from acta.engine.tools.tool import (
    Approvers,
    BuiltinTool,
    HttpConfig,
    PythonTool,
    ToolDefinition,
    ToolSpec,
    function_prefix,
    is_high_stakes_unless_said,
    python_tools,
    tools_of,
)


def from_spec(spec: Mapping[str, Any], folder: str, environment: str, tenants: Sequence[str]) -> PythonTool:
    """`spec`: of `acta.tools.define.Tool.to_spec`. `tenants`: who has the folder's tools. Raises Unusable for a schema
    that no tool may have, and pydantic's ValidationError.
    """
    from acta.engine.tools.tenant.definition import check_schema  # only where a catalogue is made

    stakes = spec.get("high_stakes")
    if stakes is None:
        stakes = is_high_stakes_unless_said(spec["name"], spec["effect"], spec["risk"])
    said = {**spec, "high_stakes": stakes}
    digest = hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:16]
    check_schema(spec["input_schema"], is_checked_again=True)
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

    def bent(self, spec: ToolSpec, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        if isinstance(spec, BuiltinTool):
            arguments = spec.spelled(arguments)
        if not _may_mean_something_else(arguments):
            return arguments
        from acta.engine.tools.schema import bent_input

        return bent_input(spec, arguments)

    def check(self, spec: ToolSpec, arguments: Mapping[str, Any], *, private: bool = True) -> None:
        # The schema library is imported here, because few workers need it.
        from acta.engine.tools.schema import check_input

        check_input(spec, arguments)
        if isinstance(spec, BuiltinTool) and (problem := spec.path_problem(arguments, private=private)):
            raise ToolInputInvalid(problem)
        if isinstance(spec, ToolDefinition) and isinstance(spec.config, HttpConfig):
            # refuses an argument that would change what the admin has fixed, or that cannot go where it has to
            from acta.engine.tools.tenant.parameters import request_of

            request_of(spec.name, spec.config, arguments)


def _may_mean_something_else(arguments: Mapping[str, Any]) -> bool:
    """Whether there is a `null` or a JSON text in them. Most inputs have none, and need no schema library for that."""
    waiting: list[Any] = [arguments]
    while waiting:
        here = waiting.pop()
        if isinstance(here, Mapping):
            waiting += here.values()
        elif isinstance(here, list):
            waiting += here
        elif here is None:
            return True
        elif isinstance(here, str) and (text := here.strip()):
            is_structure = text[0] + text[-1] in ("[]", "{}")
            if is_structure or text in ("true", "false") or _OF_NUMBERS.issuperset(text):
                return True
    return False


_OF_NUMBERS = frozenset("0123456789+-.eE")


@dataclass(frozen=True)
class TenantRegistry(BuiltinRegistry):
    """A Registry with the tenant's own tools, too."""

    snapshot: Callable[[str], DefinitionSnapshot]
    """Reads a tenant's definitions: `Definitions.last_snapshot` where the turn has read them already, else
    `Definitions.snapshot`."""
    optional: Collection[str] = ()
    """The optional built-in tools that are offered."""
    approvers: Approvers = field(default_factory=dict)
    """Roles that an operator names."""
    environment: Callable[[str], Mapping[str, ToolSpec]] = python_tools
    """The environment's own tools that a tenant has."""

    def specs(self, tenant: str, agent_id: str) -> Mapping[str, ToolSpec]:
        return tools_of(
            tenant, agent_id, self.snapshot, self.optional, self.approvers, self.environment(tenant)
        )
