"""The built-in tools: each module of this folder names its own in `TOOLS`, and nothing else lists them.

And all tools of a tenant, which begin with the built-in ones.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Set
from functools import cache
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from acta_engine.settings import SettingsError
from acta_engine.tools.tool import Approvers, BuiltinTool, ToolSpec, with_approver

if TYPE_CHECKING:  # types alone: no cold start loads them
    from acta_engine.agents.store import DefinitionSnapshot


@cache
def builtins() -> Mapping[str, BuiltinTool]:
    """The built-in tools by name, always in the same order, because providers cache how requests begin.

    They are made at the first use, because making them takes time at a cold start.
    """
    here = Path(__file__)
    beside = sorted(
        each.stem for each in here.parent.glob("*.py") if each.name not in (here.name, "__init__.py")
    )
    modules = [import_module(f"{__package__}.{name}") for name in beside]
    return MappingProxyType({tool.name: tool for module in modules for tool in module.TOOLS})


def optional_tools() -> tuple[str, ...]:
    """The names of the optional tools, which not every deployment offers."""
    return tuple(name for name, tool in builtins().items() if tool.optional)


def check_optional(names: Collection[str]) -> None:
    """Raises SettingsError for a name that no optional tool has. Only a deployment calls it, so no cold start pays."""
    unknown = sorted(set(names) - set(optional_tools())) if names else []
    if unknown:
        raise SettingsError(
            f"ACTA_OPTIONAL_TOOLS names {', '.join(unknown)}; the optional tools are {', '.join(optional_tools())}"
        )


def offered(optional: Collection[str], own: Mapping[str, ToolSpec]) -> dict[str, ToolSpec]:
    """What a tenant has without its own definitions: the built-in tools, then the environment's.

    `optional`: names of the optional tools that the deployment offers. No other tool may have the name of an optional
    tool, whether it is offered or not. `own`: the environment's tools by name. If a later release builds in a tool of
    the same name, the built-in one wins.
    """
    first = {name: tool for name, tool in builtins().items() if not tool.optional or name in optional}
    return first | {name: tool for name, tool in own.items() if name not in builtins()}


def tools_of(
    tenant: str,
    snapshot: "Callable[[str], DefinitionSnapshot]",
    optional: Collection[str],
    approvers: Approvers,
    own: Mapping[str, ToolSpec],
) -> Mapping[str, ToolSpec]:
    """All tools of a tenant by name, as they are for it: the offered ones, then those that its admins added."""

    def added() -> Mapping[str, ToolSpec]:
        read = snapshot(tenant)
        tools, servers = read.tools(), read.mcp_servers()
        if not servers:  # as for most tenants
            return {tool.name: tool for tool in tools}
        from acta_engine.tools.mcp.server import with_servers

        return with_servers(tools, servers)

    first = offered(optional, own)
    return _LazySpecs(
        first, {*builtins(), *first}, added, lambda spec: with_approver(spec, approvers, tenant)
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
