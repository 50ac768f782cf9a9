"""What sessions and a deployment cost a month, from what `make bench` counted and the dated price lists.

The counted figures are those of the first table of docs/costs.md; a test compares them, and what is computed here with
the page. They are of whole sessions whose turns are one model call and one read of a 2 KB file. A session of another
length is put between the counted ones.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from infra.environments import Environment
from infra.sizing import SIZES
from shared.domain.rules.price_list import PRICES, Price
from shared.domain.spending.aws_prices import UNITS_PER_USD, AwsPrices, Units, prices_in

COUNTED_TURNS = (5, 20, 100)
PER_TURN: Mapping[str, Mapping[int, Sequence[float]]] = {
    "write units": {1: (9.2, 6.8, 6.2), 8: (9.2, 6.8, 6.2)},
    "read units": {1: (4.2, 3.3, 3.1), 8: (3.2, 2.3, 2.1)},
    "S3 puts": {1: (0, 0.05, 0.06), 8: (0, 0.05, 0.06)},
    "S3 gets": {1: (1, 1, 1), 8: (1, 1, 1)},
    "transitions": {1: (5.2, 4.3, 4.1), 8: (0.8, 0.4, 0.28)},
    "invocations": {1: (2.8, 2.2, 2.1), 8: (0.6, 0.25, 0.15)},
}
"""What is counted -> `turns_per_step` -> for each turn of a session of so many turns."""
TOKEN_TURNS = (20, 50)
TOKENS: Mapping[str, Sequence[float]] = {
    "input": (203_358, 1_200_000),
    "not from the cache": (14_080, 52_000),
    "output": (1_363, 3_400),
}
"""Of whole sessions of so many turns: the receipt on the page, and its table in dollars. A request holds the whole
conversation, so the input grows with the square of the turns, until conversations are made shorter."""
MODEL_SECONDS = 5.0
"""How long a model is waited for in a turn, unless said otherwise."""
STORED_GB_MONTH = 0.25
"""USD. DynamoDB's standard class, US East (N. Virginia). A write unit is at most 1 KB that is stored."""
KB_PER_GB = 1_048_576
BY_RESOURCE: Mapping[str, tuple[str, float]] = {
    "AWS::CloudWatch::Alarm": ("alarms", 0.10),
    "AWS::CloudWatch::Dashboard": ("dashboards", 3.00),
    "AWS::KMS::Key": ("keys", 1.00),
    "AWS::SecretsManager::Secret": ("secrets", 0.40),
    "AWS::WAFv2::WebACL": ("firewalls, with two rules", 7.00),
}
"""Type -> a word for it, and USD a month for one; of alarms for each metric that they look at. Lists of US East
(N. Virginia), November 2026, without free tiers."""
RECOVERY = 0.30
"""USD a month: `recover` each minute, some 50 small reads and half a second (docs/costs.md)."""
METRIC_READ = 0.43
"""USD a month: the metric that `recover` reads each minute."""


class UnknownPrice(LookupError):
    """The message says which price is not known and what to do."""


class Costs(NamedTuple):
    """US dollars. `session`: of one, by part. `parked`: one that waits for a person, a month at most. `idle`: the
    deployment a month without a session, by part; empty where no environment is given.
    """

    turns: int
    session: Mapping[str, float]
    parked: float
    idle: Mapping[str, float]

    @property
    def of_session(self) -> float:
        return sum(self.session.values())

    @property
    def of_idle(self) -> float:
        return sum(self.idle.values())

    def month(self, sessions: int) -> float:
        return sessions * self.of_session + self.of_idle


def costs(
    turns: int,
    model: str,
    *,
    environment: Environment | None = None,
    resources: Mapping[str, int] | None = None,
    seconds: float = MODEL_SECONDS,
) -> Costs:
    """`seconds`: a turn waits for the model. `environment`: whose sizes, `turns_per_step` and prices count; None: those
    of `PROD` in US East (N. Virginia). `resources`: type -> how many of its templates. Raises UnknownPrice.
    """
    cap = 8 if environment is None or environment.turns_per_step > 1 else 1
    sizes = environment.sizes if environment is not None else SIZES
    of_aws = _prices(environment)
    used = {name: total(COUNTED_TURNS, _totals(counted[cap]), turns) for name, counted in PER_TURN.items()}
    architecture = environment.architecture if environment is not None else "arm64"
    gb_seconds = turns * seconds * sizes["step"].memory / 1_024
    session = {
        "Step Functions": used["transitions"] * _usd(of_aws, of_aws.transition),
        "Lambda requests": used["invocations"] * _usd(of_aws, of_aws.invocation),
        "Lambda waits for the model": gb_seconds * _usd(of_aws, of_aws.gb_second(architecture)),
        "DynamoDB": used["write units"] * _usd(of_aws, of_aws.write_unit)
        + used["read units"] * _usd(of_aws, of_aws.read_unit),
        "S3": used["S3 puts"] * _usd(of_aws, of_aws.put) + used["S3 gets"] * _usd(of_aws, of_aws.get),
        "the model": of_model(model, turns),
    }
    idle: dict[str, float] = {}
    if resources is not None:
        idle = {word: resources.get(kind, 0) * usd for kind, (word, usd) in BY_RESOURCE.items()}
        idle |= {"recovery, each minute": RECOVERY, "the metric that it reads": METRIC_READ}
    return Costs(turns, session, used["write units"] / KB_PER_GB * STORED_GB_MONTH, idle)


def of_model(model: str, turns: int) -> float:
    """What is not from the cache is written to it. Raises UnknownPrice."""
    price = _price_of(model)
    whole = _square(turns)
    fresh = min(whole, total(TOKEN_TURNS, TOKENS["not from the cache"], turns))
    written = total(TOKEN_TURNS, TOKENS["output"], turns)
    rates = price.rates
    thousandths = fresh * rates.cache_write + (whole - fresh) * rates.cached_input + written * rates.output
    return thousandths / 1_000 / 1_000_000


def total(counted: Sequence[int], totals: Sequence[float], turns: int) -> float:
    """Of a session of `turns`, on the straight lines between the counted ones; beyond them on the nearest line."""
    pairs = list(zip(counted, totals, strict=True))
    at = next((index for index, (known, _) in enumerate(pairs) if turns <= known), len(pairs) - 1)
    (left, low), (right, high) = pairs[max(0, at - 1)], pairs[max(1, at)]
    return max(0.0, low + (high - low) * (turns - left) / (right - left))


def _square(turns: int) -> float:
    """Input tokens: `a * turns + b * turns**2` through the counted ones."""
    (n, m), (x, y) = TOKEN_TURNS, TOKENS["input"]
    b = (y / m - x / n) / (m - n)
    return (x / n - b * n) * turns + b * turns**2


def _totals(per_turn: Sequence[float]) -> list[float]:
    return [each * turns for each, turns in zip(per_turn, COUNTED_TURNS, strict=True)]


def _prices(environment: Environment | None) -> AwsPrices:
    if environment is None or (environment.aws_prices is None and environment.region is None):
        return prices_in("us-east-1")
    return environment.aws_prices or prices_in(str(environment.region))


def _usd(of: AwsPrices, units: Units) -> float:
    if units is None:
        raise UnknownPrice(
            f"there is no price list for {of.region}: give aws_prices of the environment, as docs/costs.md says"
        )
    return units / UNITS_PER_USD


def _price_of(model: str) -> Price:
    for prices in PRICES.values():
        if model in prices:
            return prices[model]
    raise UnknownPrice(f"there is no price of the model {model!r}: acta models lists those that have one")
