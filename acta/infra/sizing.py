"""The functions that Acta has, and the resources of each. Memory: measured by `make bench ONLY=memory` (ADR 62)."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from acta.engine.tools.tool import MAX_TOOL_SECONDS

FunctionName = Literal[
    "start",
    "status",
    "step",
    "tool",
    "intervene",
    "admin",
    "notify",
    "usage",
    "traces",
    "recover",
    "mcp",
    "wake",
    "console",
    "fallback",
]
CALLED_BY_EVENTS: frozenset[FunctionName] = frozenset(("notify", "usage", "traces", "recover"))
"""Functions that events call, so that nobody waits for an answer."""
KNOW_ADDRESS: tuple[FunctionName, ...] = ("fallback", "mcp", "admin", "tool")
"""Functions that tell the address of the API, or make URLs with it."""
GATEWAY_TIMEOUT = 29
"""Seconds. An HTTP API ends an integration after 30."""
LAMBDA_TIMEOUT = 900
"""Seconds. The most that Lambda gives a function."""
MARGIN = 60
"""Seconds of an invocation that a model or tool may not use. They are left for reading before the call and for retrying
the commit after it."""


@dataclass(frozen=True)
class Sizing:
    """The resources of one function: `timeout` in seconds, `memory` in MB; 1,769 MB give one whole vCPU."""

    memory: int
    timeout: int


SIZES: Mapping[FunctionName, Sizing] = MappingProxyType(
    {
        "start": Sizing(memory=512, timeout=GATEWAY_TIMEOUT),
        "status": Sizing(memory=512, timeout=GATEWAY_TIMEOUT),
        "step": Sizing(memory=512, timeout=LAMBDA_TIMEOUT),  # it waits for models most of its time
        "tool": Sizing(memory=512, timeout=MAX_TOOL_SECONDS + MARGIN),
        "intervene": Sizing(memory=512, timeout=GATEWAY_TIMEOUT),
        "admin": Sizing(memory=512, timeout=GATEWAY_TIMEOUT),
        "notify": Sizing(memory=256, timeout=30),
        "usage": Sizing(memory=256, timeout=60),
        "traces": Sizing(memory=256, timeout=60),
        "recover": Sizing(memory=512, timeout=60),
        "mcp": Sizing(memory=512, timeout=GATEWAY_TIMEOUT),
        "wake": Sizing(memory=512, timeout=GATEWAY_TIMEOUT),
        "console": Sizing(memory=256, timeout=10),
        "fallback": Sizing(memory=256, timeout=10),
    }
)

RESERVED: Mapping[FunctionName, int] = MappingProxyType(
    {
        "step": 500,
        "tool": 100,
        "status": 100,
        "start": 40,
        "intervene": 40,
        "mcp": 40,
        "recover": 20,
        "wake": 20,
        "admin": 20,
    }
)
"""What a strict environment reserves of the 1,000 concurrent executions of an ordinary account, of which Lambda leaves
at least 100 to the functions that reserve none. So a flood of requests takes no worker from turns, recovery and
decisions, and 120 are left for Python tools and for what events call."""

# Local functions are processes on one machine, where a cold start may have to wait for five others.
LOCAL_SIZES: Mapping[FunctionName, Sizing] = MappingProxyType(
    {name: Sizing(size.memory, max(size.timeout, 60)) for name, size in SIZES.items()}
)

LARGE_REGIONS = frozenset(("us-east-1", "us-west-2", "eu-west-1"))
STARTS_A_SECOND = (300, 150)
"""Executions that an account may start, in large regions and elsewhere. `docs/quotas.py` has the source."""
SHARE_FOR_RECOVERY = 2 / 3
"""The share of an account's starts of executions that recovery may use; the rest is left to everybody else."""


def recovery_workers(region: str | None, share: int) -> int:
    """How many invocations of `recover` may run at once. Each restarts `share` sessions a minute; together they use at
    most `SHARE_FOR_RECOVERY` of the starts that the region allows.
    """
    large, other = STARTS_A_SECOND
    a_minute = (large if region in LARGE_REGIONS else other) * 60 * SHARE_FOR_RECOVERY
    return max(1, int(a_minute // share))
