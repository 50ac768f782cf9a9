"""What a session may be given at most: by its agent, and by the deployment (docs/design/budgets.md 5).

An agent's `limits` are what a session gets where nobody names a limit; caps are what nobody may go beyond. Only an
admin may go beyond the agent's caps, and nobody beyond the deployment's.
"""

from typing import Annotated, Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from acta.engine.errors import Forbidden, ValidationFailed
from acta.engine.settings import MAX_COST_BUDGET_USD as MAX_COST_BUDGET_USD
from acta.engine.settings import MAX_MAX_STEPS as MAX_MAX_STEPS
from acta.engine.settings import MAX_TOKEN_BUDGET as MAX_TOKEN_BUDGET
from acta.engine.store.schema import FrozenModel

DEFAULT_MAX_STEPS = 50
"""The step limit of a run if neither its request nor its agent names one."""


class Caps(FrozenModel):
    """The most that members may give. Absent: no cap but the deployment's."""

    model_config = ConfigDict(strict=True)

    max_steps: Annotated[int, Field(ge=1, le=MAX_MAX_STEPS)] | None = None
    """The most iterations of a run, after which it ends gracefully."""
    token_budget: Annotated[int, Field(ge=1, le=MAX_TOKEN_BUDGET)] | None = None
    """The most tokens in a window of time, after which a run waits or asks a person."""
    cost_budget_usd: Annotated[float, Field(gt=0, le=MAX_COST_BUDGET_USD)] | None = None
    """The most US dollars that the whole session may cost."""


NO_CAPS = Caps.model_construct()
"""Made without a validator, which would be built at every cold start."""


class LimitValues(NamedTuple):
    """The limits of a session, or what somebody names for it; None: no limit, or not named."""

    max_steps: int | None = None
    token_budget: int | None = None
    cost_budget_usd: float | None = None


class NamedLimits(Caps):
    """Limits of each session. Absent: the agent's, else the deployment's."""

    @property
    def values(self) -> LimitValues:
        return LimitValues(self.max_steps, self.token_budget, self.cost_budget_usd)


def beyond(named: LimitValues, agent: Caps, deployment: Caps, *, is_admin: bool) -> dict[str, str]:
    """By field, a sentence for each limit that may not be named. Empty: all may be."""
    wrong: dict[str, str] = {}
    for field, value in named._asdict().items():
        of_agent, of_deployment = getattr(agent, field), getattr(deployment, field)
        if value is None:
            continue
        if of_deployment is not None and value > of_deployment:
            wrong[field] = f"The most in this deployment is {of_deployment:,}."
        elif of_agent is not None and value > of_agent and not is_admin:
            wrong[field] = f"The most for sessions of this agent is {of_agent:,}; an admin may give more."
    return wrong


def refuse_beyond(
    named: LimitValues, agent: Caps, deployment: Caps, *, is_admin: bool, inside: str = ""
) -> None:
    """Raises Forbidden for a member, and ValidationFailed for an admin, who may go beyond the agent's caps only.
    `inside`: what stands before the fields' names in the details.
    """
    wrong = beyond(named, agent, deployment, is_admin=is_admin)
    if wrong:
        details = {f"{inside}{field}": [sentence] for field, sentence in wrong.items()}
        refusal = ValidationFailed if is_admin else Forbidden
        raise refusal(f"More than a session may be given: {', '.join(details)}.", details)


def usual(agent: BaseModel, deployment: LimitValues) -> LimitValues:
    """What a session gets where nobody names a limit: its agent's `limits`, else the deployment's."""
    return LimitValues(*(getattr(agent, field) or value for field, value in deployment._asdict().items()))


def chosen(named: LimitValues, usual: LimitValues, agent: Caps, deployment: Caps) -> LimitValues:
    """The limits of a session: what is named, else what is usual, and no more than the caps. If no limit is usual, the
    agent's cap is the limit, because otherwise there would be none."""
    limits: dict[str, Any] = {}
    for field, value in named._asdict().items():
        of_agent, of_deployment = getattr(agent, field), getattr(deployment, field)
        otherwise = getattr(usual, field)
        otherwise = of_agent if otherwise is None else otherwise
        carried = [one for one in (otherwise, of_agent, of_deployment) if one is not None]
        limits[field] = value or (min(carried) if otherwise is not None else None)
    return LimitValues(**limits)
