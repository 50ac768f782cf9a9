"""What a tenant has used."""

from typing import Literal

from typing_extensions import TypedDict

from acta_engine.api.formats import Instant


class Tokens(TypedDict):
    """Of model calls that were answered."""

    fresh_input: int
    cached_input: int
    """Read from the provider's cache."""
    output: int
    total: int
    model_calls: int


class UsageCost(TypedDict):
    """US dollars. null: a price is not known."""

    models_usd: float | None
    unpriced_calls: int
    """Calls of models whose price is not known."""
    estimated_aws_usd: float | None
    """An estimate, as in a receipt. null, too, of a model."""
    total_usd: float | None
    """The estimate of AWS's part included."""


class SessionsNow(TypedDict):
    """By where they stand."""

    idle: int
    active: int
    waiting_for_user: int
    completed: int
    failed: int
    cancelled: int
    deleted: int


class SessionCounts(TypedDict):
    """Sessions that were started in this time, and where they stand now."""

    started: int
    now: SessionsNow


class RunCounts(TypedDict):
    """Runs that began and that ended in this time."""

    started: int
    completed: int
    failed: int
    cancelled: int


class PlanCounts(TypedDict):
    """Plans that were made anew, and that were completed."""

    created: int
    completed: int


class MessageCounts(TypedDict):
    """Messages of people, and replies of agents with a text."""

    from_people: int
    from_agents: int
    per_run: float | None
    """null: no run was started in this time."""


class InterventionCounts(TypedDict):
    """`waited_seconds`: how long those that are closed were open, in all."""

    opened: int
    resolved: int
    expired: int
    withdrawn: int
    waited_seconds: float


class ToolCounts(TypedDict):
    """Calls with a result, by it."""

    ok: int
    failed: int


class Work(TypedDict):
    """What was done, in counts."""

    sessions: SessionCounts
    runs: RunCounts
    plans: PlanCounts
    messages: MessageCounts
    interventions: InterventionCounts
    tools: ToolCounts


class UsageItem(TypedDict):
    """What was used in an hour or a day, or of or by what the key names."""

    key: str
    """The beginning of the hour or day, the agent's id, the model's name, or the pseudonym of the user, which is their
    `who` in the audit trail."""
    agent_name: str | None
    """By agent: what it is called now. null: of all else, and of an agent that was deleted."""
    tokens: Tokens
    cost: UsageCost
    work: Work | None
    """null: of a model."""


class UsageTotal(TypedDict):
    """Of the whole time, whatever this page has."""

    tokens: Tokens
    cost: UsageCost
    work: Work
    runs_ended: dict[str, int] | None
    """How runs ended, in days: `completed/plan_completed`, `failed/model_refused`, `cancelled`. null: it is one
    person's."""


TenantUsage = TypedDict(
    "TenantUsage",
    {
        "by": Literal["hour", "day", "agent", "model", "user"],
        "from": Instant,
        "to": Instant,
        "complete_until": Instant | None,
        "items": list[UsageItem],
        "next_cursor": str | None,
        "total": UsageTotal,
    },
)  # a class cannot have a field that is called `from`
TenantUsage.__doc__ = """Sums. `from` and `to` are rounded to whole hours or days. `complete_until`: what was committed
before it is counted, and what came later may not be yet; null: nothing was counted so far."""
