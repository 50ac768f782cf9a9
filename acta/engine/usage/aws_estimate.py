"""What AWS asks for sessions, estimated: counts of the log, times what `make bench` counted for one of each, times the
price list. Receipts, `usage` and `acta costs` all compute it here (ADR 114).

The counts are exact (`Tally`), the uses of one are means of what was seen on the wire and in the engine's histories,
with results of 2 KB. `make bench ONLY=receipts` compares the estimate with what it counts for whole sessions, and fails
where the two are more than 15 % apart.
"""

from collections.abc import Iterable, Mapping
from functools import reduce
from types import MappingProxyType
from typing import NamedTuple

from acta.engine.log.head import Head
from acta.engine.usage.aws_prices import UNITS_PER_USD, AwsPrices, Units
from acta.engine.usage.tally import Done, ModelUse

COUNTED_ON = "2026-11-26"
"""The day of the bench whose counts stand in `USES`."""
API_MEMORY_MB = 512
"""The memory of the functions that answer people."""
MB_MS_PER_GB_SECOND = 1_024 * 1_000


class AwsUse(NamedTuple):
    """What something uses of AWS. `transitions`: of the engine. Of each function that works for a session, how often it
    is invoked and for how many milliseconds it runs: `step`, `tool`, and `api` for those that answer people. The rest
    is requests to DynamoDB with their units, and requests to S3 by their two prices.
    """

    transitions: float = 0
    step_invocations: float = 0
    step_ms: float = 0
    tool_invocations: float = 0
    tool_ms: float = 0
    api_invocations: float = 0
    api_ms: float = 0
    reads: float = 0
    read_units: float = 0
    writes: float = 0
    write_units: float = 0
    gets: float = 0
    puts: float = 0

    def plus(self, other: "AwsUse", times: float = 1) -> "AwsUse":
        return AwsUse(*(one + more * times for one, more in zip(self, other, strict=True)))

    @property
    def invocations(self) -> float:
        return self.step_invocations + self.tool_invocations + self.api_invocations


USES: Mapping[str, AwsUse] = MappingProxyType(
    {
        "run": AwsUse(transitions=2, api_invocations=1, api_ms=30, reads=2, read_units=2, writes=3, write_units=10),
        "model call": AwsUse(step_ms=30, reads=2, read_units=2, writes=2, write_units=3, puts=0.05),
        "turn that is a state": AwsUse(transitions=2, step_invocations=1, step_ms=30),
        "state with calls": AwsUse(transitions=1),
        "call": AwsUse(writes=1, write_units=3, gets=1),
        "call that is a state": AwsUse(transitions=1, tool_invocations=1, tool_ms=50, reads=1, read_units=1),
        # Calls at once lose races for the next commit number, and read and write again.
        "further call at once": AwsUse(tool_ms=20, reads=1.3, read_units=2.4, writes=1.2, write_units=3.6),
        # The bench's call with an effect puts a file where another one gets it.
        "start of a call": AwsUse(writes=1, write_units=2, gets=-1, puts=1),
        "question": AwsUse(transitions=2, api_invocations=2, api_ms=60, reads=3, read_units=3, writes=4,
                           write_units=18),
        # Parking and starting again. A roll-over passes one state less.
        "further execution": AwsUse(transitions=4, api_invocations=1, api_ms=30, reads=1.5, read_units=2.5, writes=1,
                                    write_units=2),
        # These two are worked out from what they commit, and not counted.
        "wait": AwsUse(transitions=2, writes=1, write_units=3),
        "message": AwsUse(api_invocations=1, api_ms=30, reads=1, read_units=1, writes=2, write_units=5),
    }
)  # fmt: skip


class AwsRates(NamedTuple):
    """What a deployment's use is multiplied by. `architecture`: of its functions, as the system names it."""

    prices: AwsPrices
    architecture: str = "arm64"
    step_memory_mb: int = 512
    tool_memory_mb: int = 512


class AwsEstimate(NamedTuple):
    """US dollars, each None where a price is unknown."""

    use: AwsUse
    gb_seconds: float
    step_functions_usd: float | None
    lambda_usd: float | None
    dynamodb_usd: float | None
    s3_usd: float | None

    @property
    def usd(self) -> float | None:
        return total_usd(self.step_functions_usd, self.lambda_usd, self.dynamodb_usd, self.s3_usd)


def estimated(done: Done, model_calls: int, rates: AwsRates) -> AwsEstimate:
    """The estimate for a session, or for many together. `model_calls`: those that were answered."""
    calls = done.tools_ok + done.tools_failed
    states_of_calls = max(0, calls - done.fused_calls)
    part = states_of_calls / calls if calls else 0.0
    counts = {
        "run": done.runs,
        "model call": model_calls,
        "turn that is a state": max(0, model_calls - done.fused_turns),
        "state with calls": done.calling_turns * part,
        "call": calls,
        "call that is a state": states_of_calls,
        "further call at once": max(0, calls - done.calling_turns) * part,
        "start of a call": done.first_writes,
        "wait": done.waits,
        "question": done.asked,
        "message": max(0, done.user_messages - done.runs - done.answered),
        "further execution": done.executions,
    }
    use = AwsUse(step_ms=done.step_ms, tool_ms=done.tool_ms)
    for name, count in counts.items():
        use = use.plus(USES[name], count)
    return priced(use, rates)


def priced(use: AwsUse, rates: AwsRates) -> AwsEstimate:
    prices = rates.prices
    mb_ms = (
        use.step_ms * rates.step_memory_mb + use.tool_ms * rates.tool_memory_mb + use.api_ms * API_MEMORY_MB
    )
    gb_seconds = mb_ms / MB_MS_PER_GB_SECOND
    return AwsEstimate(
        use=use,
        gb_seconds=gb_seconds,
        step_functions_usd=_usd((use.transitions, prices.transition)),
        lambda_usd=_usd(
            (use.invocations, prices.invocation), (gb_seconds, prices.gb_second(rates.architecture))
        ),
        dynamodb_usd=_usd((use.write_units, prices.write_unit), (use.read_units, prices.read_unit)),
        s3_usd=_usd((use.gets, prices.get), (use.puts, prices.put)),
    )


def total_usd(*parts: float | None) -> float | None:
    """None where one of them is: what is unknown makes the sum unknown, never smaller."""
    known = [part for part in parts if part is not None]
    return round(sum(known), 9) if len(known) == len(parts) else None


def _usd(*used: tuple[float, Units]) -> float | None:
    """Nothing used costs nothing, whatever its price."""
    if any(count and price is None for count, price in used):
        return None
    return round(sum(count * (price or 0) for count, price in used) / UNITS_PER_USD, 9)


NOT_COUNTED = (
    "files and results that are larger or smaller than the bench's 2 KB, and what retries and lost attempts add",
    "looks at an answer in the background and at a server's task, polls, the tenant's limits, recovery, notifications",
    "model calls without an answer: they are in the budget as vanished_tokens",
    "the gateway, secrets, logs, traces, metrics, indexes of the table and what is stored",
    "what tools cost where they run",
)
"""Told with each receipt."""


class SessionCosts(NamedTuple):
    """A session's receipt: what its models cost, counted, and what AWS asks for it, estimated (ADR 114). In US dollars;
    an unknown price makes every sum that contains it None, never 0. `models`: what each was used for, by its name."""

    models: Mapping[str, ModelUse]
    models_usd: float | None
    aws: AwsEstimate

    @property
    def total_usd(self) -> float | None:
        return total_usd(self.models_usd, self.aws.usd)


def receipt_of(head: Head, rates: AwsRates) -> SessionCosts:
    tally = head.tally
    aws = estimated(tally.done, head.usage.llm_calls, rates)
    return SessionCosts(tally.models, models_usd(tally.models.values()), aws)


def models_usd(uses: Iterable[ModelUse]) -> float | None:
    total = reduce(ModelUse.plus, uses, ModelUse())
    return None if total.unpriced else total.microdollars / 1_000_000
