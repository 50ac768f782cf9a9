"""Which calls wait for a person, and who that may be (docs/design/plans.md, people.md 12)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from acta_engine.people.options_and_defaults import Policy
from acta_engine.plans.plan import ExecutionPlan, needs_permission

if TYPE_CHECKING:  # types alone: no cold start loads them
    from acta_engine.tools.tool import ToolSpec

ApprovalReason = Literal["high_stakes", "replaces_file", "plan_step"]


def approval_reason(
    plan: ExecutionPlan | None, tool: ToolSpec, arguments: Mapping[str, Any]
) -> ApprovalReason | None:
    """Why a person must approve a call of `tool` with these arguments; None: nobody has to."""
    from acta_engine.tools.tool import BuiltinTool  # a start has no tool

    if tool.high_stakes:
        return "high_stakes"
    if isinstance(tool, BuiltinTool) and tool.replaces_file(arguments):
        return "replaces_file"
    asks = plan is not None and needs_permission(plan, tool.name, risky=tool.is_risky)
    return "plan_step" if asks else None


class Deciders(NamedTuple):
    """Who decides on a call. `role` None: any member of the tenant. `others_only`: nobody who asked for it lets it
    run.
    """

    role: str | None
    others_only: bool


def who_decides(tool: ToolSpec | None, policy: Policy) -> Deciders:
    """The tool's role holds whichever agent makes the call; the policy's where the tool has none. That others decide
    may be wanted by either. `tool` None: it was deleted since. `policy`: the agent's, for the type of the question.
    """
    role = tool.approver_role if tool is not None else None
    others_only = tool is not None and tool.wants_another_approver
    return Deciders(role or policy.role, others_only or policy.approver_must_differ is True)
