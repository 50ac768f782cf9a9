"""A session's receipt: the counts of its head in dollars (ADR 61). A price that is unknown makes unknown what it is
part of, never 0.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from shared.domain.rules.price_list import PRICED_AT
from shared.domain.session.head import Head
from shared.domain.spending.aws_prices import UNITS_PER_USD, AwsPrices
from shared.domain.spending.spent import FunctionUse, ModelUse, StoreUse

NOT_COUNTED = (
    "what an invocation does after its last commit: its last milliseconds, the answer's records in the audit trail",
    "invocations that committed nothing: attempts that died, executions that found themselves overtaken, polls",
    "recovery's scans and notifications, which belong to the deployment",
    "model calls without an answer: they are in the budget as vanished_tokens",
    "the gateway, secrets, logs, traces, metrics, indexes of the table and what is stored",
    "what tools cost where they run",
)
"""Told with each receipt."""

_MB_MS_PER_GB_SECOND = 1_024 * 1_000


class ModelLine(NamedTuple):
    name: str
    use: ModelUse
    usd: float | None


class FunctionLine(NamedTuple):
    name: str
    use: FunctionUse
    usd: float | None

    @property
    def gb_seconds(self) -> float:
        return round(self.use.mb_ms / _MB_MS_PER_GB_SECOND, 6)


class Receipt(NamedTuple):
    """US dollars; None: a price is unknown. `since`: when counting began; None: nothing was counted. `is_whole`: it
    began with the session.
    """

    since: datetime | None
    is_whole: bool
    models: tuple[ModelLine, ...]
    functions: tuple[FunctionLine, ...]
    stores: StoreUse
    transitions: int
    models_usd: float | None
    step_functions_usd: float | None
    lambda_usd: float | None
    dynamodb_usd: float | None
    s3_usd: float | None
    aws_usd: float | None
    total_usd: float | None
    prices: AwsPrices
    models_priced_at: str = PRICED_AT


def receipt_of(head: Head, prices: AwsPrices, architecture: str) -> Receipt:
    """`architecture`: of the functions, as the system names it."""
    spent = head.spent
    if spent is None:
        return _nothing_counted(prices)
    gb_second = prices.gb_second(architecture)
    of_functions = {
        name: _function_units(use, prices.invocation, gb_second) for name, use in spent.functions.items()
    }
    stores = spent.stores
    of_table = _sum(
        [_times(stores.wcu, prices.write_unit), _halves(_times(stores.half_rru, prices.read_unit))]
    )
    of_objects = _sum([_times(stores.gets, prices.get), _times(stores.puts, prices.put)])
    of_engine = _times(spent.transitions, prices.transition)
    of_time = _sum(of_functions.values())
    aws = _sum([of_engine, of_time, of_table, of_objects])
    of_models = _sum([_model_units(use) for use in spent.models.values()])
    return Receipt(
        since=spent.since or head.created_at,
        is_whole=spent.since is None,
        models=tuple(ModelLine(name, use, _usd(_model_units(use))) for name, use in spent.models.items()),
        functions=tuple(
            FunctionLine(name, use, _usd(of_functions[name])) for name, use in spent.functions.items()
        ),
        stores=stores,
        transitions=spent.transitions,
        models_usd=_usd(of_models),
        step_functions_usd=_usd(of_engine),
        lambda_usd=_usd(of_time),
        dynamodb_usd=_usd(of_table),
        s3_usd=_usd(of_objects),
        aws_usd=_usd(aws),
        total_usd=_usd(_sum([aws, of_models])),
        prices=prices,
    )


def _nothing_counted(prices: AwsPrices) -> Receipt:
    """An earlier release made all commits: nothing is known, which is not nothing."""
    return Receipt(None, False, (), (), StoreUse(), 0, None, None, None, None, None, None, None, prices)


def _function_units(use: FunctionUse, invocation: int | None, gb_second: int | None) -> int | None:
    time = _times(use.mb_ms, gb_second)
    return _sum([_times(use.invocations, invocation), None if time is None else time // _MB_MS_PER_GB_SECOND])


def _model_units(use: ModelUse) -> int | None:
    return None if use.unpriced else use.microdollars * (UNITS_PER_USD // 1_000_000)


def _times(count: int, price: int | None) -> int | None:
    """Nothing used costs nothing, whatever its price."""
    if not count:
        return 0
    return None if price is None else count * price


def _halves(units: int | None) -> int | None:
    return None if units is None else units // 2


def _sum(parts: Iterable[int | None]) -> int | None:
    total = 0
    for part in parts:
        if part is None:
            return None
        total += part
    return total


def _usd(units: int | None) -> float | None:
    """With nine decimals."""
    return None if units is None else round(units / UNITS_PER_USD, 9)
