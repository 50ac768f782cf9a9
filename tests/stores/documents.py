"""Documents to store: small ones, one with everything in it, and the largest the domain allows."""

from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

from acta.engine.clock import Clock
from acta.engine.log.commit import Commit, Decision, IdempotencyRecord, Position, StepRecord
from acta.engine.log.conversation import (
    INLINE_BYTES,
    AssistantEntry,
    Content,
    Entry,
    ToolCall,
    ToolEntry,
    UserEntry,
)
from acta.engine.log.events import Event
from acta.engine.log.head import (
    MAX_CALLS,
    MAX_GOAL_CHARS,
    MAX_UNDELIVERED,
    Budget,
    Failure,
    Head,
    OpenCall,
    Progress,
    Restarts,
    Result,
    Run,
    Usage,
    Wait,
)
from acta.engine.people.intervention import Intervention, PendingCall
from acta.engine.people.resolve import MAX_TOGETHER_BYTES
from acta.engine.plans.plan import MAX_EVIDENCE, MAX_RESULT_CHARS, MAX_STEPS, ExecutionPlan, PlanStep

NOW = datetime(2026, 1, 1, 12, 0, 0, 123_456, tzinfo=UTC)
ROUTE = "POST /v1/sessions"
ID = "01J00000000000000000000000"


def make_head(tenant: str, session_id: str, **fields: Any) -> Head:
    return Head(
        **{
            "tenant": tenant,
            "session_id": session_id,
            "agent_id": "default",
            "created_by": "someone",
            "state": "idle",
            "created_at": NOW,
            "updated_at": NOW,
            "budget": Budget(token_budget=50_000),
            "max_steps": 50,
            **fields,
        }
    )


def make_commit(tenant: str, session_id: str, number: int, key: str = "", **fields: Any) -> Commit:
    head = fields.pop("head", None) or make_head(tenant, session_id)
    return Commit(number=number, key=key or f"key-{number}", at=NOW, head=head, **fields)


def make_intervention(session_id: str, intervention_id: str, **fields: Any) -> Intervention:
    return Intervention(
        **{
            "intervention_id": intervention_id,
            "session_id": session_id,
            "type": "approval_required",
            "context": {"why": None, "nested": {"list": [1, 2.5, "ü"]}},
            "tool_call": PendingCall(
                call_id="call_1", name="delete_file", input={"path": "a.md"}, input_hash="00", shortened=True
            ),
            "role": "approver",
            "options": ("approve", "reject", "modify"),
            "default_action": "reject",
            "created_at": NOW,
            **fields,
        }
    )


def decision_at(tenant: str, session_id: str, run_id: str = f"run_{ID}", generation: int = 1) -> Decision:
    at = Position(tenant=tenant, session_id=session_id, run_id=run_id, generation=generation, turn=3, first=7)
    return Decision(next="act", at=at, calls=("call_1",))


def record_for(clock: Clock, tenant: str, key: str = "k", **fields: Any) -> IdempotencyRecord:
    record = IdempotencyRecord(
        tenant=tenant,
        route=ROUTE,
        key=key,
        body_hash="h",
        status=202,
        answer={"session_id": "s", "plan": None, "n": [1, 2.5]},
        expires_at=clock.now() + timedelta(hours=24),
    )
    return record._replace(**fields)


def plan_of(steps: int, text: str, results: str) -> ExecutionPlan:
    return ExecutionPlan(
        version=2,
        goal=text,
        steps=tuple(
            PlanStep(
                step_number=number,
                description=f"{text} ({number})",
                tool="read_file",
                input={"path": f"notes/{number}.md"},
                status="completed",
                result=results,
                evidence=(f"call_{ID}",),
                started_at=NOW,
                completed_at=NOW,
            )
            for number in range(1, steps + 1)
        ),
        risks=("writes a file",),
        created_at=NOW,
        updated_at=NOW,
    )


def full_commit(tenant: str, session_id: str, number: int) -> Commit:
    """Every field of every document set to something that is not its default."""
    head = make_head(
        tenant,
        session_id,
        state="waiting_for_tool",
        state_reason="tool_calls",
        goal="Zähle die Dateien 📁",
        run=Run(
            run_id=f"run_{ID}",
            generation=2,
            iteration=3,
            turn=4,
            first=5,
            max_steps=50,
            events=61,
            goal_id="m",
            restarts=Restarts(turn=4, count=1),
        ),
        plan=plan_of(7, "Read a file and note what it says", "It says that May was 3 % over."),
        usage=Usage(
            input_tokens=9, output_tokens=8, cached_input_tokens=7, llm_calls=2, tool_calls=1, cost_usd=None
        ),
        budget=Budget(token_budget=1, cost_budget_usd=0.25),
        interventions=(make_intervention(session_id, f"int_{ID}"),),
        result=Result(goal_met=True, answer="42", reason="goal_complete", message_id=f"msg_{ID}"),
        error=Failure(code="MODEL_REFUSED", message="no"),
        metadata={"ticket": "A-1"},
        review_every=2,
        last_seq=12,
        last_step=4,
        calls=(
            OpenCall(
                call_id=f"call_{ID}",
                name="read_file",
                state="started",
                amended={"path": "b.md"},
                tool_written="3/x",
            ),
        ),
        undelivered=(f"msg_{ID}",),
        progress=Progress(text_replies=1, planning_attempts=2, hint="try another tool"),
        wait=Wait(token="AQC" * 200, entered=NOW),
        compacted_at=3,
    )
    entries: tuple[Entry, ...] = (
        UserEntry(message_id="msg_1", content=Content.of("go on\u2028\x00\x7f"), origin="summary"),
        AssistantEntry(
            message_id="msg_2",
            content=Content.of("I read it."),
            thinking="hm",
            calls=(
                ToolCall(
                    call_id="call_1", effect_id="eff_1", name="read_file", input={"path": None, "n": 2**70}
                ),
                ToolCall(call_id="call_2", effect_id="eff_2", name="read_file", malformed="cut off"),
                ToolCall(
                    call_id="call_3",
                    effect_id="eff_3",
                    name="x",
                    input_content=Content(blob="0" * 64, bytes=5_000),
                ),
            ),
            provider="anthropic",
            raw=[{"signature": None, "n": 1.0}],
            private=Content(blob="1" * 64, bytes=9_999),
        ),
        ToolEntry(
            call_id="call_1",
            name="read_file",
            content=Content.of("Error: no such file"),
            ok=False,
            whole=Content(blob="2" * 64, bytes=70_000),
        ),
    )
    return make_commit(
        tenant,
        session_id,
        number,
        head=head,
        events=(
            Event(seq=11, at=NOW, type="state.changed", data={"from": "executing", "reason": None}),
            Event(seq=12, at=NOW, type="tool.requested", step_number=4, data={"call_id": "call_1"}),
        ),
        entries=entries,
        delivered=("msg_1",),
        step=StepRecord(
            step_number=4,
            kind="llm",
            name="model",
            started_at=NOW,
            completed_at=NOW,
            duration_ms=1_200,
            attempt=1,
            input_tokens=1,
            output_tokens=2,
            cached_input_tokens=3,
            cost_usd=None,
            error="timeout",
        ),
        decision=Decision(next="wait", at=decision_at(tenant, session_id).at, wait_seconds=3, then="think"),
        compacted=Content(blob="3" * 64, bytes=80_000),
    )


def largest_commit(tenant: str, session_id: str) -> Commit:
    """Each collection at its bound, of text that does not compress, in four-byte characters where text counts
    characters; with the inline contents of the largest batch of results.
    """
    chance = Random(0)

    def noise(chars: int) -> str:
        return "".join(chr(chance.randrange(0x1F300, 0x1F9FF)) for _ in range(chars))

    def letters(chars: int) -> str:
        return "".join(chr(chance.randrange(33, 127)) for _ in range(chars))

    ids = [f"call_{letters(26)}" for _ in range(MAX_EVIDENCE)]
    step = PlanStep(
        step_number=1,
        description=noise(1_000),
        tool="t" * 64,
        input={"text": letters(4_096)},
        result=noise(MAX_RESULT_CHARS),
        evidence=tuple(ids),
    )
    plan = plan_of(1, noise(2_000), "").model_copy(update={"steps": (step,) * MAX_STEPS})
    interventions = tuple(
        make_intervention(session_id, f"int_{letters(26)}", context={"question": letters(1_000)})
        for _ in range(MAX_CALLS)
    )
    head = make_head(
        tenant,
        session_id,
        goal=noise(MAX_GOAL_CHARS),
        plan=plan,
        calls=tuple(
            OpenCall(
                call_id=call_id,
                name="t" * 64,
                amended={"text": letters(MAX_TOGETHER_BYTES // MAX_CALLS)},
                tool_written=letters(40),
            )
            for call_id in ids[:MAX_CALLS]
        ),
        undelivered=tuple(f"msg_{letters(26)}" for _ in range(MAX_UNDELIVERED)),
        interventions=interventions,
        metadata={letters(40): letters(500) for _ in range(20)},
        result=Result(goal_met=True, answer=noise(MAX_GOAL_CHARS), reason="goal_complete"),
        wait=Wait(token=letters(1_024), entered=NOW),
    )
    entries = tuple(
        ToolEntry(call_id=call_id, name="t" * 64, content=Content.of(letters(INLINE_BYTES)))
        for call_id in ids[:MAX_CALLS]
    )
    return make_commit(tenant, session_id, 1, head=head, entries=entries)
