"""What sessions and a deployment cost a month, estimated as receipts are (`acta/engine/usage/aws_estimate.py`).
A turn is one model call and one read of a 2 KB file. A test compares the page docs/costs.md with what is computed
here.
"""

from collections.abc import Mapping, Sequence
from math import ceil
from typing import NamedTuple

from acta.engine.models.providers import PROVIDERS, Price, price_of
from acta.engine.usage.aws_estimate import AwsRates, estimated
from acta.engine.usage.aws_prices import AwsPrices, prices_in
from acta.engine.usage.tally import Done
from acta.infra.environments import PROD, Environment
from acta.infra.sizing import SIZES

TOKEN_TURNS = (20, 50)
TOKENS: Mapping[str, Sequence[float]] = {
    "input": (203_358, 1_200_000),
    "not from the cache": (14_080, 52_000),
    "output": (1_363, 3_400),
}
"""Tokens counted in whole sessions of 20 and of 50 turns: the page's receipt, and its table in dollars. A request holds
the whole conversation, so the input grows with the square of the turns, until conversations are made shorter."""
ENDS = 2
"""Turns that a session has besides those that read a file: the first one plans and the last one ends the session."""
MODEL_SECONDS = 5.0
"""How long a turn waits for the model, unless the caller says otherwise."""
STORED_GB_MONTH = 0.25
"""USD for DynamoDB's standard class in US East (N. Virginia). One write unit stores at most 1 KB."""
KB_PER_GB = 1_048_576
BY_RESOURCE: Mapping[str, tuple[str, float]] = {
    "AWS::CloudWatch::Alarm": ("alarms", 0.10),
    "AWS::CloudWatch::Dashboard": ("dashboards", 3.00),
    "AWS::KMS::Key": ("keys", 1.00),
    "AWS::SecretsManager::Secret": ("secrets", 0.40),
    "AWS::WAFv2::WebACL": ("firewalls, with two rules", 7.00),
}
"""Resource type -> a word for it, and what one costs in USD a month. An alarm costs that much for each metric that it
looks at. Source: the price lists of US East (N. Virginia), November 2026, without free tiers."""
RECOVERY = 0.62
"""USD a month: the five rounds of `recover` each minute, some 60 small reads and half a second (docs/costs.md)."""
METRIC_READ = 0.43
"""USD a month: the metric that `recover` reads each minute."""


class UnknownPrice(LookupError):
    """The message says which price is not known and what to do."""


class Costs(NamedTuple):
    """US dollars. `session`: one session, by part. `parked`: the most for a month in which a session waits for a
    person. `idle`: the deployment for a month without a session, by part; empty where no resources are given.
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
    """`seconds`: how long a turn waits for the model. `environment`: has the sizes, `turns_per_step` and prices; None:
    `PROD` in US East (N. Virginia). `resources`: type -> how many its templates have. Raises UnknownPrice.
    """
    cap = PROD.turns_per_step if environment is None else environment.turns_per_step
    aws = estimated(done_in(turns, cap, seconds), turns + ENDS, _rates(environment))
    if aws.usd is None:
        region = _prices(environment).region
        raise UnknownPrice(
            f"there is no price list for {region}: give aws_prices of the environment, as docs/costs.md says"
        )
    session = {
        "Step Functions": aws.step_functions_usd or 0.0,
        "Lambda": aws.lambda_usd or 0.0,
        "DynamoDB": aws.dynamodb_usd or 0.0,
        "S3": aws.s3_usd or 0.0,
        "the model": of_model(model, turns),
    }
    idle: dict[str, float] = {}
    if resources is not None:
        idle = {word: resources.get(kind, 0) * usd for kind, (word, usd) in BY_RESOURCE.items()}
        idle |= {"recovery, each minute": RECOVERY, "the metric that it reads": METRIC_READ}
    return Costs(turns, session, aws.use.write_units / KB_PER_GB * STORED_GB_MONTH, idle)


def of_model(model: str, turns: int) -> float:
    """USD for the model of a session. Input that does not come from the cache is written to it. Raises UnknownPrice."""
    price = _price_of(model)
    # Input tokens are on the curve `a * turns + b * turns**2` that passes through both counted sessions.
    (n, m), (x, y) = TOKEN_TURNS, TOKENS["input"]
    b = (y / m - x / n) / (m - n)
    whole = (x / n - b * n) * turns + b * turns**2
    fresh = min(whole, total(TOKEN_TURNS, TOKENS["not from the cache"], turns))
    written = total(TOKEN_TURNS, TOKENS["output"], turns)
    rates = price.rates
    thousandths = fresh * rates.cache_write + (whole - fresh) * rates.cached_input + written * rates.output
    return thousandths / 1_000 / 1_000_000


def total(counted: Sequence[int], totals: Sequence[float], turns: int) -> float:
    """The total of a session of `turns`, on straight lines through the counted ones; the outermost lines go on."""
    pairs = list(zip(counted, totals, strict=True))
    at = next((index for index, (known, _) in enumerate(pairs) if turns <= known), len(pairs) - 1)
    (left, low), (right, high) = pairs[max(0, at - 1)], pairs[max(1, at)]
    return max(0.0, low + (high - low) * (turns - left) / (right - left))


def done_in(turns: int, turns_per_step: int, seconds: float) -> Done:
    """What a session's log counts for so many turns, if one state of the engine makes at most `turns_per_step`."""
    fused = turns + ENDS - ceil((turns + ENDS) / turns_per_step)
    return Done(
        runs=1,
        user_messages=1,
        tools_ok=turns,
        calling_turns=turns,
        fused_turns=fused,
        fused_calls=turns if turns_per_step > 1 else 0,
        step_ms=round(turns * seconds * 1_000),
    )


def _prices(environment: Environment | None) -> AwsPrices:
    if environment is None or (environment.aws_prices is None and environment.region is None):
        return prices_in("us-east-1")
    return environment.aws_prices or prices_in(str(environment.region))


def _rates(environment: Environment | None) -> AwsRates:
    sizes = environment.sizes if environment is not None else SIZES
    architecture = environment.architecture if environment is not None else "arm64"
    return AwsRates(_prices(environment), architecture, sizes["step"].memory, sizes["tool"].memory)


def _price_of(model: str) -> Price:
    for provider in PROVIDERS.values():
        if model in provider.models and (price := price_of(provider.name, model)) is not None:
            return price
    raise UnknownPrice(f"there is no price of the model {model!r}: acta models lists those that have one")
