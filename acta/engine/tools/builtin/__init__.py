"""The built-in tools: each module of this folder names its own in `TOOLS`, and nothing else lists them."""

from collections.abc import Collection, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from types import MappingProxyType

from acta.engine.settings import SettingsError
from acta.engine.tools.tool import BuiltinTool, ToolSpec


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
