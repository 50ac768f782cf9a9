"""What a session has cost."""

from typing_extensions import TypedDict

from acta_engine.api.formats import Counter, Instant
from acta_engine.log.head import SessionState


class Cost(TypedDict):
    """The sums of the session's receipt, in US dollars. null: a price is not known."""

    models_usd: float | None
    estimated_aws_usd: float | None
    total_usd: float | None
    """The estimate of AWS's part included."""


class Counts(TypedDict):
    """What the session has done, counted in its log."""

    runs: Counter
    model_calls: Counter
    """Those that were answered."""
    tool_calls: Counter
    """Those that have a result."""
    questions: Counter
    """Those that people were asked."""
    waits: Counter
    """Waits of the engine, such as for a provider that is away."""
    executions: Counter
    """Of the engine. Each run has one; another one follows a long wait or a long history."""


class ModelCost(TypedDict):
    model: str
    calls: Counter
    fresh_input_tokens: int
    cached_input_tokens: int
    output_tokens: int
    usd: float | None


class ModelsCost(TypedDict):
    """What its models have cost."""

    usd: float | None
    vanished_tokens: int
    """Of model calls that told no usage. No price is in the sum for them."""
    items: list[ModelCost]


class EngineCost(TypedDict):
    """Step Functions."""

    transitions: Counter
    usd: float | None


class LambdaCost(TypedDict):
    """Invocations and their time."""

    requests: Counter
    gb_seconds: float
    usd: float | None


class TableCost(TypedDict):
    """DynamoDB."""

    write_units: Counter
    read_units: Counter
    usd: float | None


class ObjectsCost(TypedDict):
    """S3."""

    get_requests: Counter
    put_requests: Counter
    usd: float | None


AwsCost = TypedDict(
    "AwsCost",
    {
        "is_estimate": bool,
        "estimated_from": str,
        "usd": float | None,
        "step_functions": EngineCost,
        "lambda": LambdaCost,
        "dynamodb": TableCost,
        "s3": ObjectsCost,
    },
)  # a class cannot have a field that is called `lambda`


class ModelPrices(TypedDict):
    as_of: str
    """The day of the list."""


class AwsPrices(TypedDict):
    region: str
    as_of: str | None
    """The day of the list; null: there is none of this region."""
    source: str | None


class PriceLists(TypedDict):
    """Which lists of prices hold."""

    models: ModelPrices
    aws: AwsPrices


class Receipt(TypedDict):
    """What a session has cost up to its last commit, in US dollars. null: a price is not known. Counts, tokens and what
    models cost are exact; AWS's part is an estimate.
    """

    session_id: str
    state: SessionState
    at: Instant
    """Of the last commit."""
    total_usd: float | None
    """The estimate of AWS's part included."""
    counts: Counts
    models: ModelsCost
    aws: AwsCost
    """Estimated: the counts, times what was used for one of each on the day `estimated_from`, times the price list."""
    prices: PriceLists
    not_counted: list[str]
    """What is not in it, in sentences."""
