"""How people are asked: the options of each type of intervention, what happens when nobody decides, what an agent's
policy may change, which calls wait for a person, and who that may be (docs/design/plans.md, people.md 12).
"""

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

from pydantic import ConfigDict, Field

from acta.engine.plans.plan import ExecutionPlan, needs_permission
from acta.engine.store.schema import FrozenModel

if TYPE_CHECKING:  # types alone: no cold start loads them
    from acta.engine.tools.tool import ToolSpec

InterventionType = Literal[
    "approval_required", "clarification_needed", "error_recovery", "checkpoint_review", "budget_exceeded"
]

OPTIONS: dict[InterventionType, tuple[str, ...]] = {
    "approval_required": ("approve", "reject", "modify"),
    "clarification_needed": ("answer", "cancel"),
    "error_recovery": ("retry", "record", "skip", "cancel"),
    "checkpoint_review": ("continue", "cancel"),
    "budget_exceeded": ("raise", "finish", "cancel"),
}

STUCK_OPTIONS = ("retry", "cancel")
"""The options of an `error_recovery` because the run is stuck. The ones above are for a call."""

TOOL_QUESTION_OPTIONS = ("answer", "skip", "cancel")
"""The options of a `clarification_needed` by the server of a tool. `skip`: it is told that nobody answers."""

HOURLY_OPTIONS = ("continue", "finish", "cancel")
"""The options of a `budget_exceeded` about the tenant's hour. When the next hour begins, it expires and the run goes
on."""

DEFAULTS: dict[InterventionType, str] = {
    "approval_required": "reject",
    "clarification_needed": "cancel",
    "error_recovery": "cancel",
    "checkpoint_review": "cancel",
    "budget_exceeded": "finish",
}

NEEDS_INPUT = frozenset({"answer", "modify", "raise", "record"})
"""Options that need an input from the person who decides."""

MAX_ANSWER_SECONDS = 2_592_000
"""30 days."""
ROLE_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$"
RoleName = Annotated[str, Field(pattern=ROLE_PATTERN)]


def has_one_of(wanted: Iterable[str], roles: Set[str]) -> bool:
    """`roles`: those in a person's token. An admin counts as a member; apart from that, no role includes another one
    (docs/design/people.md 8).
    """
    return any(one in roles or (one == "member" and "admin" in roles) for one in wanted)


class Policy(FrozenModel):
    """How people are asked a type of question. Absent: as usual for the type."""

    model_config = ConfigDict(strict=True)

    timeout_seconds: Annotated[int, Field(ge=1, le=MAX_ANSWER_SECONDS)] | None = None
    """How long the question waits."""
    default_action: Annotated[str, Field(min_length=1, max_length=32)] | None = None
    """The option that holds when nobody decides. Never one that approves."""
    role: RoleName | None = None
    """Who may decide."""
    approver_must_differ: bool | None = None
    """Nobody who asked for the call may let it run."""

    @property
    def roles(self) -> tuple[str, ...]:
        """The roles of which whoever decides needs each one."""
        return () if self.role is None else (self.role,)

    def without_roles(self) -> "Policy":
        return self.model_copy(update={"role": None})

    def default_for(self, type: InterventionType, options: Sequence[str], *, is_about_call: bool) -> str:
        """What happens when nobody decides: the policy's action where it is allowed, else the usual one of the type.

        A call that may have had its effect is never repeated without a person.
        """
        wanted = self.default_action
        if wanted is None or wanted not in options or default_problem(type, wanted) is not None:
            return DEFAULTS[type]
        return DEFAULTS[type] if is_about_call and wanted == "retry" else wanted


class JointPolicy(Policy):
    """What the agents of a session and of those above it demand together, the strictest of each. It is never stored."""

    also_roles: tuple[RoleName, ...] = ()
    """The roles that those above name, other than `role`."""

    @property
    def roles(self) -> tuple[str, ...]:
        return (*super().roles, *self.also_roles)

    def without_roles(self) -> Policy:
        return self.model_copy(update={"role": None, "also_roles": ()})

    @classmethod
    def of(cls, policies: Sequence[Policy]) -> "JointPolicy":
        """`policies`: the session's own first."""
        roles = tuple(dict.fromkeys(role for each in policies for role in each.roles))
        seconds = [each.timeout_seconds for each in policies if each.timeout_seconds is not None]
        return cls(
            timeout_seconds=min(seconds, default=None),
            default_action=policies[0].default_action,
            role=next(iter(roles), None),
            also_roles=roles[1:],
            approver_must_differ=any(each.approver_must_differ for each in policies) or None,
        )


Policies = Mapping[InterventionType, Policy]
NO_POLICIES: Policies = {}


def default_problem(type: InterventionType, option: str) -> str | None:
    """A sentence that says why `option` cannot be a default action; None: it can."""
    allowed = [one for one in OPTIONS[type] if one not in NEEDS_INPUT and one != "approve"]
    instead = f"A default is one of: {', '.join(allowed)}."
    if type == "approval_required" and option in ("approve", "modify"):
        return f"A default never approves a high-stakes call: only a person does. {instead}"
    if option not in OPTIONS[type]:
        return f"{type} has no such option. {instead}"
    if option in NEEDS_INPUT:
        return f"{option} needs an input that only a person can give. {instead}"
    return None


ApprovalReason = Literal["high_stakes", "replaces_file", "plan_step"]


def approval_reason(
    plan: ExecutionPlan | None, tool: "ToolSpec", arguments: Mapping[str, Any]
) -> ApprovalReason | None:
    """Why a person must approve a call of `tool` with these arguments; None: nobody has to."""
    from acta.engine.tools.tool import BuiltinTool  # a start has no tool

    if tool.high_stakes:
        return "high_stakes"
    if isinstance(tool, BuiltinTool) and tool.replaces_file(arguments):
        return "replaces_file"
    asks = plan is not None and needs_permission(plan, tool.name, risky=tool.is_risky)
    return "plan_step" if asks else None


class Deciders(NamedTuple):
    """Who decides on a call: whoever has all `roles`; any member of the tenant if there are none. `others_only`: nobody
    who asked for it lets it run.
    """

    roles: tuple[str, ...]
    others_only: bool


ANYONE, ANOTHER = "anyone", "another"
HIGH_STAKES: tuple[ApprovalReason, ...] = ("high_stakes", "replaces_file")
"""Reasons for which the environment may say who approves. What a plan's step asks for is not among them."""


def who_decides(tool: "ToolSpec | None", policy: Policy, approver: str = ANYONE) -> Deciders:
    """The tool's role holds whichever agent makes the call, then the environment's, then the policy's. Each may require
    that others decide. `tool` None: it was deleted since. `policy`: the agent's, for the type of the question.
    `approver`: `Settings.high_stakes_approver`, for a call of high stakes. It opens nothing: a tool of everybody's, or
    of whoever asks, is another person's with it.
    """
    role = tool.approver_role if tool is not None else None
    others_only = tool is not None and tool.wants_another_approver
    if approver != ANYONE:
        others_only = True
        if approver != ANOTHER and role in (None, "member"):
            role = approver
    roles = policy.roles if role is None else (role,)
    return Deciders(roles, others_only or policy.approver_must_differ is True)


def decided_by_roles(tools: "Iterable[ToolSpec]", approver: str) -> dict[str, list[str]]:
    """The names of the tools whose calls a role decides on, by role, whichever agent makes them. `approver`:
    `Settings.high_stakes_approver`.
    """
    found: dict[str, list[str]] = {}
    for tool in tools:
        for role in who_decides(tool, Policy(), approver if tool.has_high_stakes else ANYONE).roles:
            if tool.name not in found.setdefault(role, []):
                found[role].append(tool.name)
    return found
