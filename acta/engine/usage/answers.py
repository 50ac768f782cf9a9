"""What a session has cost and a tenant has used, as the API answers it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal, get_args

from typing_extensions import TypedDict as RealTypedDict

from acta.engine.api.answers import Counter, Instant, TypedDict, copied, instant, instant_or_none
from acta.engine.log.head import Head, SessionState
from acta.engine.models.providers import PRICED_AT
from acta.engine.untrusted.visible import visible
from acta.engine.usage import aws_estimate, aws_prices
from acta.engine.usage.aws_estimate import (
    COUNTED_ON,
    NOT_COUNTED,
    AwsEstimate,
    AwsRates,
    estimated,
    models_usd,
    total_usd,
)
from acta.engine.usage.usage import Amounts, Standing

if TYPE_CHECKING:
    from acta.engine.usage.report import By, Report


class TokensView(TypedDict):
    """Tokens of answered model calls."""

    fresh_input: int
    cached_input: int
    """Read from the provider's cache."""
    output: int
    total: int
    model_calls: int


class UsageCostView(TypedDict):
    """US dollars. null: a price is not known."""

    models_usd: float | None
    unpriced_calls: int
    """Calls of models whose price is not known."""
    estimated_aws_usd: float | None
    """An estimate, as in a receipt. It is also null for a model."""
    total_usd: float | None
    """It includes the estimate of AWS's part."""


class SessionsNowView(TypedDict):
    """Sessions by where they stand."""

    idle: int
    active: int
    waiting_for_user: int
    completed: int
    failed: int
    cancelled: int
    deleted: int


class SessionCountsView(TypedDict):
    """Sessions that were started in this time, and where they stand now."""

    started: int
    now: SessionsNowView


class RunCountsView(TypedDict):
    """Runs that began and that ended in this time."""

    started: int
    completed: int
    failed: int
    cancelled: int
    goal_met: int
    """Completed runs that met their goal."""
    unaided: int
    """Completed runs that needed nobody: no person answered a question of theirs."""
    goal_met_rate: float | None
    """Of the runs that ended, between 0 and 1. null: none ended."""
    unaided_rate: float | None
    """Of the runs that ended, between 0 and 1. null: none ended."""


class RatingCountsView(TypedDict):
    """People's ratings of the answers of runs that ended in this time, as they are now."""

    up: int
    down: int
    up_rate: float | None
    """`up` of both, between 0 and 1. null: nobody has rated."""


class PlanCountsView(TypedDict):
    """Plans that were newly made, and plans that were completed."""

    created: int
    completed: int


class MessageCountsView(TypedDict):
    """Messages of people, and replies of agents with a text."""

    from_people: int
    from_agents: int
    per_run: float | None
    """null: no run was started in this time."""


class InterventionCountsView(TypedDict):
    """`waited_seconds`: how long those that are closed were open, in all."""

    opened: int
    resolved: int
    expired: int
    withdrawn: int
    waited_seconds: float


class ToolCountsView(TypedDict):
    """Calls with a result, by whether they succeeded."""

    ok: int
    failed: int


class WorkView(TypedDict):
    """What was done, in counts."""

    sessions: SessionCountsView
    runs: RunCountsView
    ratings: RatingCountsView
    plans: PlanCountsView
    messages: MessageCountsView
    interventions: InterventionCountsView
    tools: ToolCountsView


class UsageItemView(TypedDict):
    """What was used in an hour or a day, or by the agent, model or user that the key names."""

    key: str
    """The beginning of the hour or day, the agent's id, the model's name, or the pseudonym of the user, which is their
    `who` in the audit trail."""
    agent_name: str | None
    """By agent: what it is called now. null: for all other keys, and for an agent that was deleted."""
    tokens: TokensView
    cost: UsageCostView
    work: WorkView | None
    """null: for a model."""


class UsageTotalView(TypedDict):
    """Sums of the whole time, whatever this page has."""

    tokens: TokensView
    cost: UsageCostView
    work: WorkView
    runs_ended: dict[str, int] | None
    """How runs ended, in days: `completed/plan_completed`, `failed/model_refused`, `cancelled`. null: it is one
    person's."""


TenantUsageView = RealTypedDict(
    "TenantUsageView",
    {
        "by": Literal["hour", "day", "agent", "model", "user"],
        "from": Instant,
        "to": Instant,
        "complete_until": Instant | None,
        "items": list[UsageItemView],
        "next_cursor": str | None,
        "total": UsageTotalView,
    },
)  # a class cannot have a field that is called `from`
TenantUsageView.__doc__ = """Sums. `from` and `to` are rounded to whole hours or days. `complete_until`: what was
committed before it is counted, and what came later may not be yet; null: nothing was counted so far."""


class CountsView(TypedDict):
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


class ModelCostView(TypedDict):
    model: str
    calls: Counter
    fresh_input_tokens: int
    cached_input_tokens: int
    output_tokens: int
    usd: float | None


class ModelsCostView(TypedDict):
    """What its models have cost."""

    usd: float | None
    vanished_tokens: int
    """Tokens of model calls that reported no usage. The sum contains no price for them."""
    items: list[ModelCostView]


class EngineCostView(TypedDict):
    """Step Functions."""

    transitions: Counter
    usd: float | None


class LambdaCostView(TypedDict):
    """Invocations and their time."""

    requests: Counter
    gb_seconds: float
    usd: float | None


class TableCostView(TypedDict):
    """DynamoDB."""

    write_units: Counter
    read_units: Counter
    usd: float | None


class ObjectsCostView(TypedDict):
    """S3."""

    get_requests: Counter
    put_requests: Counter
    usd: float | None


AwsCostView = RealTypedDict(
    "AwsCostView",
    {
        "is_estimate": bool,
        "estimated_from": str,
        "usd": float | None,
        "step_functions": EngineCostView,
        "lambda": LambdaCostView,
        "dynamodb": TableCostView,
        "s3": ObjectsCostView,
    },
)  # a class cannot have a field that is called `lambda`


class ModelPricesView(TypedDict):
    as_of: str
    """The day of the list."""


class AwsPricesView(TypedDict):
    region: str
    as_of: str | None
    """The day of the list; null: there is none of this region."""
    source: str | None


class PriceListsView(TypedDict):
    """The price lists that were used."""

    models: ModelPricesView
    aws: AwsPricesView


class TreeCostView(TypedDict):
    """Sums of the session and all sessions below it, which its calls of agents and theirs have started."""

    sessions: Counter
    """The session itself included."""
    complete: bool
    """false: there are more than 1,000, and the sums are those of the first 1,000."""
    tokens: Counter
    models_usd: float | None
    estimated_aws_usd: float | None
    total_usd: float | None
    """It includes the estimate of AWS's part."""


class ReceiptView(TypedDict):
    """What a session has cost up to its last commit, in US dollars. null: a price is not known. Counts, tokens and what
    models cost are exact; AWS's part is an estimate.
    """

    session_id: str
    state: SessionState
    at: Instant
    """The time of the last commit."""
    total_usd: float | None
    """It includes the estimate of AWS's part."""
    counts: CountsView
    models: ModelsCostView
    aws: AwsCostView
    """Estimated: the counts, times what was used for one of each on the day `estimated_from`, times the price list."""
    prices: PriceListsView
    not_counted: list[str]
    """Sentences about costs that are not in it."""
    tree: TreeCostView | None
    """With its children; everything else in the receipt is the session's own. null: it has called no agent."""


def usage_view(
    report: Report,
    by: By,
    names: Sequence[str],
    next_cursor: str | None,
    rates: AwsRates,
    agent_names: Mapping[str, str],
) -> TenantUsageView:
    """`names`: the items of this page. `agent_names`: what agents are called, by their ids."""
    return {
        "by": by,
        "from": instant(report.span.since),
        "to": instant(report.span.until),
        "complete_until": instant_or_none(report.complete_until),
        "items": [_item(name, by, report.items[name], rates, agent_names.get(name)) for name in names],
        "next_cursor": next_cursor,
        "total": {
            "tokens": _tokens(report.total),
            "cost": _cost(report.total, rates),
            "work": _work(report.total),
            "runs_ended": dict(report.ends) if report.ends is not None else None,
        },
    }


def _item(name: str, by: By, row: Amounts, rates: AwsRates, agent_name: str | None) -> UsageItemView:
    of_model, cost = by == "model", _cost(row, rates)
    if of_model:  # what AWS asks is not a model's
        cost |= {"estimated_aws_usd": None, "total_usd": None}
    return {
        "key": visible(name),
        "agent_name": agent_name,
        "tokens": _tokens(row),
        "cost": cost,
        "work": None if of_model else _work(row),
    }


def _tokens(row: Amounts) -> TokensView:
    return {
        "fresh_input": row.fresh,
        "cached_input": row.cached,
        "output": row.output,
        "total": row.fresh + row.cached + row.output,
        "model_calls": row.calls,
    }


def _cost(row: Amounts, rates: AwsRates) -> UsageCostView:
    models = None if row.unpriced else round(row.microdollars / 1_000_000, 6)
    aws = estimated(row.done, row.calls, rates).usd
    return {
        "models_usd": models,
        "unpriced_calls": row.unpriced,
        "estimated_aws_usd": aws,
        "total_usd": total_usd(models, aws),
    }


def _work(row: Amounts) -> WorkView:
    now = copied(SessionsNowView, row)
    messages = row.user_messages + row.agent_messages
    ended = row.runs_completed + row.runs_failed + row.runs_cancelled
    return {
        "sessions": {"started": sum(getattr(row, name) for name in get_args(Standing)), "now": now},
        "runs": {
            "started": row.runs,
            "completed": row.runs_completed,
            "failed": row.runs_failed,
            "cancelled": row.runs_cancelled,
            "goal_met": row.goals_met,
            "unaided": row.unaided,
            "goal_met_rate": _rate(row.goals_met, ended),
            "unaided_rate": _rate(row.unaided, ended),
        },
        "ratings": {
            "up": row.rated_up,
            "down": row.rated_down,
            "up_rate": _rate(row.rated_up, row.rated_up + row.rated_down),
        },
        "plans": {"created": row.plans, "completed": row.plans_completed},
        "messages": {
            "from_people": row.user_messages,
            "from_agents": row.agent_messages,
            "per_run": round(messages / row.runs, 2) if row.runs > 0 else None,
        },
        "interventions": {
            "opened": row.asked,
            "resolved": row.answered,
            "expired": row.expired,
            "withdrawn": row.withdrawn,
            "waited_seconds": row.waited_ms / 1_000,
        },
        "tools": {"ok": row.tools_ok, "failed": row.tools_failed},
    }


def _rate(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole > 0 else None


def receipt_view(
    head: Head,
    receipt: aws_estimate.SessionCosts,
    prices: aws_prices.AwsPrices,
    tree: TreeCostView | None = None,
) -> ReceiptView:
    done = head.tally.done
    return {
        "session_id": head.session_id,
        "state": head.state,
        "at": instant(head.updated_at),
        "total_usd": receipt.total_usd,
        "counts": {
            "runs": done.runs,
            "model_calls": head.usage.llm_calls,
            "tool_calls": done.tools_ok + done.tools_failed,
            "questions": done.asked,
            "waits": done.waits,
            "executions": done.runs + done.executions,
        },
        "models": {
            "usd": receipt.models_usd,
            "vanished_tokens": head.budget.vanished_tokens,
            "items": [
                {
                    "model": name,
                    "calls": use.calls,
                    "fresh_input_tokens": use.input - use.cached,
                    "cached_input_tokens": use.cached,
                    "output_tokens": use.output,
                    "usd": models_usd([use]),
                }
                for name, use in receipt.models.items()
            ],
        },
        "aws": _aws(receipt.aws),
        "prices": {
            "models": {"as_of": PRICED_AT},
            "aws": {"region": prices.region, "as_of": prices.as_of or None, "source": prices.source or None},
        },
        "not_counted": list(NOT_COUNTED),
        "tree": tree,
    }


def _aws(aws: AwsEstimate) -> AwsCostView:
    use = aws.use
    return {
        "is_estimate": True,
        "estimated_from": COUNTED_ON,
        "usd": aws.usd,
        "step_functions": {"transitions": round(use.transitions), "usd": aws.step_functions_usd},
        "lambda": {
            "requests": round(use.invocations),
            "gb_seconds": round(aws.gb_seconds, 3),
            "usd": aws.lambda_usd,
        },
        "dynamodb": {
            "write_units": round(use.write_units),
            "read_units": round(use.read_units),
            "usd": aws.dynamodb_usd,
        },
        "s3": {"get_requests": round(use.gets), "put_requests": round(use.puts), "usd": aws.s3_usd},
    }
