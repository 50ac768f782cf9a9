"""Opens interventions: what a person is asked, and what the question shows (docs/design/people.md)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from acta.engine.clock import INTERVENTION, Clock
from acta.engine.log.commit import Change
from acta.engine.log.conversation import AMENDED, ToolCall, input_hash
from acta.engine.people.intervention import (
    HELD_BY,
    Intervention,
    PendingCall,
    deciding,
    is_pause,
    with_others_only,
    with_outage,
)
from acta.engine.people.policies import (
    ANYONE,
    DEFAULTS,
    HIGH_STAKES,
    HOURLY_OPTIONS,
    OPTIONS,
    STUCK_OPTIONS,
    TOOL_QUESTION_OPTIONS,
    ApprovalReason,
    InterventionType,
    Policies,
    Policy,
    who_decides,
)
from acta.engine.recovery.outage import Outage, explained
from acta.engine.tools.mcp.server_task import ToolQuestion
from acta.engine.turn.budget import NeededLimits, figures
from acta.engine.untrusted.quoting import quoted
from acta.engine.untrusted.visible import visible

MAX_SHOWN_BYTES = 2_048
MAX_TEXT_CHARS = 200
MAX_ITEMS = 10
MAX_DEPTH = 4


def excerpt(arguments: dict[str, Any], most: int = MAX_SHOWN_BYTES) -> tuple[dict[str, Any], bool]:
    """At most `most` bytes of JSON to show, and whether anything is missing. Cut parts say how large they were."""
    if _size(arguments) <= most:
        return arguments, False
    cut: dict[str, Any] = _cut(arguments, MAX_DEPTH)
    if _size(cut) > most:
        cut = {_key(name): _total(value) for name, value in list(arguments.items())[:MAX_ITEMS]}
    if _size(cut) > most:
        cut = {"…": f"{len(arguments)} fields ({_size(arguments)} bytes of JSON)"}
    return cut, True


def ends(text: str, most: int) -> str:
    """At most `most` characters: the beginning, how much is left out, and the end, where a question usually is."""
    if len(text) <= most:
        return text
    mark = "…\n[{:,} characters are left out here]\n…"
    side = (most - len(mark.format(len(text)))) // 2
    return text[:side] + mark.format(len(text) - 2 * side) + text[-side:]


def amended_note(ran: dict[str, Any] | None) -> str:
    """Tells the model, after a result, with which input the call really ran."""
    shown = json.dumps(excerpt(ran or {})[0], ensure_ascii=False)
    return f"{AMENDED}{shown})"


def _cut(value: Any, depth: int) -> Any:
    match value:
        case str() if len(value) > MAX_TEXT_CHARS:
            return f"{value[:MAX_TEXT_CHARS]}… ({len(value.encode('utf-8', 'replace'))} bytes)"
        case dict() | list() if value and not depth:
            return _total(value)
        case dict():
            shown = {_key(name): _cut(item, depth - 1) for name, item in list(value.items())[:MAX_ITEMS]}
            return shown | {"…": f"{len(value)} fields"} if len(value) > MAX_ITEMS else shown
        case list():
            shown_items = [_cut(item, depth - 1) for item in value[:MAX_ITEMS]]
            return [*shown_items, f"… ({len(value)} items)"] if len(value) > MAX_ITEMS else shown_items
        case _:
            return value


def _key(name: str) -> str:
    return name if len(name) <= 64 else f"{name[:64]}…"


def _total(value: Any) -> str:
    return f"… ({_size(value)} bytes of JSON)"


def _size(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))


if TYPE_CHECKING:  # types alone: no cold start loads them
    from acta.engine.tools.tool import ToolSpec

MAX_QUESTION_CHARS = 2_000
"""The head keeps only the beginning and the end of a longer question; the conversation has all of it."""
MAX_REVIEWED_BYTES = 8_192
"""The most bytes that a review shows of all its calls' inputs together."""
MAX_SAID_CHARS = 1_000
"""The most characters that are shown of the agent's text beside its call."""

AskedBy = Literal["agent", "acta", "person"]
"""Whose words the `question` is in. The agent's own text stands apart in `agent_said`, so that it cannot pass for words
of Acta's or of a person's (docs/design/people.md 6).
"""

APPROVAL = {
    "high_stakes": "{name} is a high-stakes tool: the call runs only when a person approves it.",
    "replaces_file": "{name} replaces a file: the call runs only when a person approves it.",
    "plan_step": "The plan's current step asks for permission before {name} runs.",
}


TOOL_ASKS = (
    "The server of {name} asks before it goes on. What it says is not Acta's: tell it no secret, and open no link that "
    "you do not know."
)
KEPT_ANSWER = (
    " An answer of the model is at {provider} under the id {response_id}. Whoever has the key can read it there (at "
    "OpenAI: GET /v1/responses/{response_id}); Acta does not delete it. retry looks once more, and where {provider} "
    "still refuses, the model is asked again and has to be paid for again."
)
GO_ON = "Go on?"
READS_ONLY = "reads_only"
"""In the context of an approval: the tool only reads, so the approval is for no call of a tool that does more."""
PAUSED = "paused"


class AskingRules(NamedTuple):
    """How people are asked: ids come from `clock`, timeouts, defaults and roles from the agent's `policies`.
    `high_stakes_approver`: the setting of that name.
    """

    clock: Clock
    policies: Policies
    high_stakes_approver: str = ANYONE


def open_approval(
    change: Change,
    call: ToolCall,
    rules: AskingRules,
    timeout_seconds: float,
    *,
    tool: ToolSpec,
    why: ApprovalReason,
    said: str = "",
) -> None:
    """Withholds the call and asks for it. The decision is bound to the hash of the input (docs/design/people.md 13).

    `tool`: the one that is called. `timeout_seconds`: where the agent's policy names none (`Timeouts.approval`).
    `said`: the reply's text beside the call.
    """
    change.set(
        calls=tuple(
            c.model_copy(update={"state": "withheld", "approval": "needed"})
            if c.call_id == call.call_id
            else c
            for c in change.head.calls
        )
    )
    context = _asked("acta", APPROVAL[why].format(name=call.name), said) | {"reason": why}
    if not tool.is_risky:
        context[READS_ONLY] = True
    withheld = change.head.open_call(call.call_id)
    seen = withheld.seen_file if withheld is not None else None
    asked_about = _shown(call).model_copy(update={"seen_file": seen})
    _open(change, "approval_required", context, rules, asked_about, tool, timeout_seconds)


def open_doubt(
    change: Change, call: ToolCall, tool: ToolSpec | None, rules: AskingRules, why: ApprovalReason | None
) -> None:
    """Asks whether the call happened: it started, and nobody knows how it ended. `tool` None: it was deleted since.
    `why`: a person had to approve it; None: nobody had to.
    """
    question = f"{call.name} was started and its end is unknown. Look whether it happened."
    context = _asked("acta", question) | {"effect_id": call.effect_id} | ({"reason": why} if why else {})
    _open(change, "error_recovery", context, rules, _shown(call), tool)


def open_tool_question(
    change: Change,
    call: ToolCall,
    tool: ToolSpec | None,
    question: ToolQuestion,
    rules: AskingRules,
    why: ApprovalReason | None,
) -> None:
    """Asks what the server of a tool asks in the middle of a call. Its words are quoted, and its links are text. `why`:
    a person had to approve the call, and whoever may do that answers.
    """
    said = "\n".join(
        "\n".join((one["message"], *([one["url"]] if "url" in one else [])))
        for one in question.requests.values()
    )
    words = quoted("question", call.name, visible(said), key=change.head.quotation_key)
    context = _asked("acta", TOOL_ASKS.format(name=call.name) + f"\n{words}") | {
        "requests": question.requests,
        **({"reason": why} if why else {}),
    }
    _open(change, "clarification_needed", context, rules, _shown(call), tool)


def open_review(change: Change, calls: Sequence[ToolCall], rules: AskingRules, *, said: str = "") -> None:
    """Shows what runs when the person says `continue`: `calls`, or none where only the next turn follows."""
    most = min(MAX_SHOWN_BYTES, MAX_REVIEWED_BYTES // max(len(calls), 1))
    shown = [_shown(call, most).model_dump() for call in calls]
    open_question(change, "checkpoint_review", GO_ON, rules, said=said, calls=shown)


def _shown(call: ToolCall, most: int = MAX_SHOWN_BYTES) -> PendingCall:
    arguments = call.input or {}
    shown, shortened = excerpt(arguments, most)
    return PendingCall(
        call_id=call.call_id,
        name=call.name,
        input=shown,
        input_hash=input_hash(arguments),
        shortened=shortened,
    )


def open_question(
    change: Change,
    type: Literal["clarification_needed", "budget_exceeded", "checkpoint_review", "error_recovery"],
    text: str,
    rules: AskingRules,
    *,
    asked_by: AskedBy = "acta",
    said: str = "",
    message_id: str = "",
    **context: Any,
) -> None:
    """Asks a person, without a deadline unless the agent's policy has one.

    `error_recovery` here is about a session that is stuck, not about a call. `message_id`: the agent's message that the
    text comes from; it is named where the text is shortened.
    """
    if message_id and len(text) > MAX_QUESTION_CHARS:
        context["message_id"] = message_id
    _open(change, type, _asked(asked_by, text, said) | context, rules)


def open_budget_question(
    change: Change, rules: AskingRules, needed: NeededLimits, giver: dict[str, Any]
) -> None:
    """The context has `token_budget_needed` or `cost_budget_usd_needed` for each limit that is too low for the call.
    `giver`: as `whose_money` in `acta/engine/subagents/money.py` makes it.
    """
    more = {
        f"{limit}_needed": value for limit, value in needed._asdict().items() if value is not None
    } | giver
    text = "The session's budget does not carry another call."
    if giver:
        text += " It is a part of the budget of the session that has started this one, which pays for what it gets."
    open_question(change, "budget_exceeded", text, rules, **figures(change.head), **more)
    wait_for_people(change)


def open_tenant_limit(
    change: Change, until: datetime, limit: Mapping[str, float], rules: AskingRules
) -> None:
    """The tenant's tokens of this hour, or its dollars of this day, are used up. The session goes on by itself when the
    next one begins.

    `limit`: `tokens_per_hour` or `usd_per_day`.
    """
    what = "dollars of this day" if "usd_per_day" in limit else "tokens of this hour"
    context = _asked("acta", f"The tenant's {what} are used up.") | {"scope": "tenant", **limit}
    change.open_intervention(
        Intervention(
            intervention_id=rules.clock.new_id(INTERVENTION),
            session_id=change.head.session_id,
            type="budget_exceeded",
            context=context,
            options=HOURLY_OPTIONS,
            default_action="continue",
            timeout_at=until,
            warned=True,
            **deciding(rules.policies.get("budget_exceeded", Policy()).roles),
            created_at=change.now,
        )
    )


def open_outage_question(
    change: Change, outage: Outage, rules: AskingRules, timeout_seconds: float | None, word: str = ""
) -> None:
    """Asks whether to try on. Without an answer the session tries on after `timeout_seconds`; None: a person has to
    decide. An agent's policy for questions about its run says who may decide, and nothing else. `word`: the provider's.
    """
    why = f"{explained(outage.code)} It is `{word}`." if word else explained(outage.code)
    said = f"The work has stood still since {outage.since:%Y-%m-%d %H:%M} UTC. {why} Try again?"
    running = change.head.background
    if running is not None:
        said += KEPT_ANSWER.format(provider=running.provider, response_id=visible(running.response_id))
        change.set(background=running.model_copy(update={"told": True}))
    context = with_outage(_asked("acta", said), outage.reason, outage.code, outage.since)
    change.open_intervention(
        Intervention(
            intervention_id=rules.clock.new_id(INTERVENTION),
            session_id=change.head.session_id,
            type="error_recovery",
            context=context,
            options=STUCK_OPTIONS,
            default_action="retry",
            timeout_at=change.now + timedelta(seconds=timeout_seconds) if timeout_seconds else None,
            **deciding(rules.policies.get("error_recovery", Policy()).roles),
            created_at=change.now,
        )
    )


def _asked(by: AskedBy, question: str, said: str = "") -> dict[str, Any]:
    context: dict[str, Any] = {"asked_by": by, "question": ends(question, MAX_QUESTION_CHARS)}
    said = said.strip()
    if said and said != question.strip():
        context["agent_said"] = said if len(said) <= MAX_SAID_CHARS else f"{said[: MAX_SAID_CHARS - 1]}…"
    if len(question) > MAX_QUESTION_CHARS or len(said) > MAX_SAID_CHARS:
        context["shortened"] = True
    return context


def _open(
    change: Change,
    type: InterventionType,
    context: dict[str, Any],
    rules: AskingRules,
    call: PendingCall | None = None,
    tool: ToolSpec | None = None,
    timeout: float | None = None,
) -> None:
    """`call`, `tool`: what a person decides on. `timeout`: seconds until the expiry, where the policy names none; None:
    it never expires.
    """
    policy = rules.policies.get(type, Policy())
    options = STUCK_OPTIONS if type == "error_recovery" and call is None else OPTIONS[type]
    if type == "clarification_needed" and call is not None:
        options = TOOL_QUESTION_OPTIONS
    roles = policy.roles
    if call is not None:
        is_high = context.get("reason") in HIGH_STAKES
        roles, others_only = who_decides(tool, policy, rules.high_stakes_approver if is_high else ANYONE)
        if others_only:  # an input that the approver gives would be what the approver asks for
            context, options = with_others_only(context), tuple(one for one in options if one != "modify")
    seconds = policy.timeout_seconds or timeout
    change.open_intervention(
        Intervention(
            intervention_id=rules.clock.new_id(INTERVENTION),
            session_id=change.head.session_id,
            type=type,
            context=context,
            tool_call=call,
            options=options,
            default_action=policy.default_for(type, options, is_about_call=call is not None),
            timeout_at=change.now + timedelta(seconds=seconds) if seconds is not None else None,
            **deciding(roles),
            created_at=change.now,
        )
    )


def open_hold(change: Change, held_by: str, clock: Clock) -> None:
    """Pauses the session because people have paused the session `held_by` above it."""
    context = {"requested_by": change.head.created_by, HELD_BY: held_by}
    change.open_intervention(
        Intervention(
            intervention_id=clock.new_id(INTERVENTION),
            session_id=change.head.session_id,
            type="checkpoint_review",
            context=context,
            options=(),
            default_action=DEFAULTS["checkpoint_review"],
            created_at=change.now,
        )
    )
    wait_for_people(change)


def wait_for_people(change: Change) -> None:
    """Moves the session to `waiting_for_user`. While a pause is open its reason is `paused`, whatever else is open."""
    open_ones = change.head.interventions
    change.to_state("waiting_for_user", PAUSED if any(map(is_pause, open_ones)) else open_ones[0].type)
