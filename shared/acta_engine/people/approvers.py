"""Roles that an operator names for tools (ADR 49). They hold for built-in tools, whose definitions are Acta's, and for
tenants' tools of that name, whatever their admins say.
"""

import re
from collections.abc import Mapping
from types import MappingProxyType

from acta_engine.people.options_and_defaults import ROLE_PATTERN
from acta_engine.plans.plan import UPDATE_PLAN
from acta_engine.tools.function_names import EVERY_TENANT
from acta_engine.tools.tool import TOOL_NAME_PATTERN, BuiltinTool, ToolSpec

Approvers = Mapping[str, Mapping[str, str]]
"""Tenant, or `*` for every tenant -> name of a tool -> the role that decides on its calls."""
NOBODY_NAMED: Approvers = MappingProxyType({})


def with_approver(spec: ToolSpec, named: Approvers, tenant: str) -> ToolSpec:
    """The tool as it is for the tenant, whose own entry comes before that of every tenant.

    A person with the role decides on each call, and nobody on what they asked for themselves. A built-in tool that asks
    about some calls alone, those that replace a file, still asks about no others.
    """
    role = named.get(tenant, {}).get(spec.name) or named.get(EVERY_TENANT, {}).get(spec.name)
    if role is None:
        return spec
    asks_about_some = (
        isinstance(spec, BuiltinTool) and spec.file is not None and spec.file.replace is not None
    )
    stakes = {} if asks_about_some else {"high_stakes": True}
    return spec.model_copy(update={"approver_role": role, "approver_must_differ": True, **stakes})


def check_approvers(named: Approvers) -> None:
    """Raises ValueError for what is no name of a tool or a role, and for `update_plan`: it changes nothing outside."""
    for tool, role in (each for roles in named.values() for each in roles.items()):
        if not re.fullmatch(TOOL_NAME_PATTERN, tool) or tool == UPDATE_PLAN:
            raise ValueError(f"{tool!r} is not the name of a tool whose calls a person can approve")
        if not re.fullmatch(ROLE_PATTERN, role):
            raise ValueError(f"{role!r} is not the name of a role")
