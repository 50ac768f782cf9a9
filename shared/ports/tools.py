"""Where tool calls run."""

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

from shared.domain.definitions.tool import ToolSpec
from shared.domain.untrusted.quoting import OutsideText


class CallContext(NamedTuple):
    """Whose call it is; `effect_id` is the idempotency key of the effect (design §6.3); `rerun`: an earlier attempt
    may have had the effect already; `deadline_seconds` is the time left.
    """

    tenant: str
    session_id: str
    agent_id: str
    effect_id: str
    deadline_seconds: float
    rerun: bool = False


class Registry(Protocol):
    def specs(self, tenant: str, agent_id: str) -> Mapping[str, ToolSpec]:
        """Every tool this agent may use, by name, in a stable order."""
        ...

    def check(self, spec: ToolSpec, arguments: Mapping[str, Any]) -> None:
        """Raises ToolInputInvalid, naming the field, where the arguments do not fit the tool's schema."""
        ...


class Toolbox(Protocol):
    def run(self, spec: ToolSpec, arguments: Mapping[str, Any], context: CallContext) -> str | OutsideText:
        """The result, as text a model can use; what comes from outside says so. The arguments have been checked.

        Raises ToolFailed (told to the model) and the store's transient errors (retried by the engine).
        """
        ...
