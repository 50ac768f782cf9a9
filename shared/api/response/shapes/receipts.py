"""What a session has cost."""

from typing_extensions import TypedDict

from shared.api.response.shapes.formats import Counter, Instant
from shared.domain.session.head import SessionState


class Cost(TypedDict):
    """The sums of the session's receipt, in US dollars. null: a price is not known."""

    models_usd: float | None
    aws_usd: float | None
    total_usd: float | None
    is_whole: bool
    """Counting began with the session."""


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


class FunctionCost(TypedDict):
    function: str
    requests: Counter
    ms: Counter
    gb_seconds: float
    usd: float | None


class LambdaCost(TypedDict):
    """Invocations and their time."""

    usd: float | None
    functions: list[FunctionCost]


class TableCost(TypedDict):
    """DynamoDB."""

    read_requests: Counter
    read_units: float
    write_requests: Counter
    write_units: Counter
    usd: float | None


class ObjectsCost(TypedDict):
    """S3."""

    get_requests: Counter
    put_requests: Counter
    usd: float | None


AwsCost = TypedDict(
    "AwsCost",
    {
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
    """What a session has cost up to its last commit, in US dollars. null: a price is not known."""

    session_id: str
    state: SessionState
    at: Instant
    """Of the last commit."""
    counted_since: Instant | None
    """null: nothing was counted."""
    is_whole: bool
    """Counting began with the session."""
    total_usd: float | None
    models: ModelsCost
    aws: AwsCost
    prices: PriceLists
    not_counted: list[str]
    """What cannot be in it, in sentences."""
