"""Runs tool calls: the one place where a call goes to its tool."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from acta_engine.errors import ToolFailed
from acta_engine.tools.port import BuiltinCall, BuiltinReach, CallContext
from acta_engine.tools.tool import BuiltinTool, ToolKind, ToolSpec
from acta_engine.untrusted.path import PathRefused
from acta_engine.untrusted.quoting import OutsideText

Runner = Callable[[Any, Mapping[str, Any], CallContext], str | OutsideText]
"""Makes the calls of all tools of one kind. It gets the tool, the arguments and the context, as `Toolbox.run` does."""
Outside = Mapping[ToolKind, Callable[[], Runner]]
"""How to get the runner of each kind that is not built in. A runner is made with the first call of its kind, because
what it loads would make every cold start longer."""
NONE_OUTSIDE: Outside = MappingProxyType({})


class Tools:
    """A Toolbox. Without `outside` only built-in tools run here."""

    def __init__(self, reach: BuiltinReach, outside: Outside = NONE_OUTSIDE) -> None:
        self._reach = reach
        self.outside = outside

    def run(self, spec: ToolSpec, arguments: Mapping[str, Any], context: CallContext) -> str | OutsideText:
        if isinstance(spec, BuiltinTool) and spec.run is not None:
            try:
                return spec.run(BuiltinCall(arguments, context, self._reach))
            except PathRefused as refused:  # the path is longer than the store's keys may be
                raise ToolFailed(f"{refused}.") from None
        runner = self.outside.get(spec.kind)
        if runner is None:
            raise ToolFailed(f"there is no tool {spec.name} here. Try another way.")
        return runner()(spec, arguments, context)
