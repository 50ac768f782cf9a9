"""What the registry knows of a tool (design §7)."""

from typing import Annotated, Any, Literal

from pydantic import Field

from shared.domain.value import Value

Effect = Literal["read", "idempotent", "once"]
Risk = Literal["read", "write", "network", "system"]
ToolKind = Literal["builtin", "http", "lambda", "mcp"]


class ToolSpec(Value):
    """`effect`: `read` may rerun, `idempotent` reruns under the same effect id, `once` never reruns after it may
    have started. `high_stakes` calls wait for a person. `repeatable`: identical calls are no sign of being stuck.
    """

    name: Annotated[str, Field(pattern=r"^[a-zA-Z][a-zA-Z0-9_-]{0,63}$")]
    description: str
    input_schema: dict[str, Any]
    kind: ToolKind = "builtin"
    effect: Effect = "read"
    risk: Risk = "read"
    high_stakes: bool = False
    repeatable: bool = False
    timeout_seconds: Annotated[int, Field(ge=1, le=600)] = 60
    result_limit_bytes: Annotated[int, Field(ge=256)] = 65_536
    cache_seconds: Annotated[int, Field(ge=0)] = 0

    @property
    def is_risky(self) -> bool:
        return self.risk != "read"
