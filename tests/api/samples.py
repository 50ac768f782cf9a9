"""A small API to ask, and documents to show."""

from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

from pydantic import Field

from acta.engine.api.app import Api
from acta.engine.api.envelope import Response, no_content, success
from acta.engine.api.idempotency import idempotency_key
from acta.engine.app import App
from acta.engine.audit.record import Audit
from acta.engine.log.head import Budget, Head, OpenCall, Run, Usage, Wait
from acta.engine.plans.plan import ExecutionPlan, PlanStep
from acta.engine.sessions.bodies import PostMessage, Resolve, StartSession
from acta.engine.settings import Settings
from acta.engine.telemetry import Telemetry
from tests.doubles.audit import memory_audit

SETTINGS = Settings(env="test", table="table", bucket="bucket")
AT = datetime(2026, 1, 31, 9, 30, 0, 123_987, tzinfo=UTC)


def start_api(
    raising: BaseException | None = None,
    telemetry: Telemetry | None = None,
    audit: Audit | None = None,
    settings: Settings = SETTINGS,
) -> Api:
    """The routes of `start`; its handlers tell what reached them, `raising` is what the second one meets."""
    api = Api("start", App(settings), telemetry, audit=audit or memory_audit())

    def start(api: Api, body: StartSession) -> Response:
        caller, key = api.caller, idempotency_key(api.request, 202)
        who: dict[str, Any] = {"tenant": caller.tenant, "user": caller.user, "roles": sorted(caller.roles)}
        return success(
            {
                **who,
                "key": key and [key.route, key.key, key.body_hash],
                "body": body.model_dump(exclude_none=True),
            },
            202,
        )

    def post(api: Api, session_id: str, body: PostMessage) -> Response:
        if raising is not None:
            raise raising
        return success({"session_id": session_id, "content": body.content}, 202)

    api.handlers |= {"startSession": start, "postMessage": post}
    return api


def intervene_api() -> Api:
    api = Api("intervene", App(SETTINGS), audit=memory_audit())

    def resolve(api: Api, session_id: str, intervention_id: str, body: Resolve) -> Response:
        return success([session_id, intervention_id, body.option, body.input, body.comment])

    def cancel(api: Api, session_id: str) -> Response:
        return success(session_id, 202)

    def delete(api: Api, session_id: str) -> Response:
        return no_content()

    api.handlers |= {"resolveIntervention": resolve, "cancelSession": cancel, "deleteSession": delete}
    return api


def status_api() -> Api:
    api = Api("status", App(SETTINGS))

    def poll(
        api: Api, session_id: str, after: str = "0", wait: Annotated[int, Field(ge=0, le=20)] = 0
    ) -> Response:
        return success({"session_id": session_id, "after": after, "wait": wait})

    api.handlers["pollSession"] = poll
    return api


PLAN = ExecutionPlan(
    version=2,
    goal="Summarise the files",
    steps=(
        PlanStep(
            step_number=1, description="List", tool="list_files", input={}, status="completed", result="two"
        ),
        PlanStep(step_number=2, description="Read", started_at=AT),
    ),
    current_step_index=1,
    risks=("writes a file",),
    created_at=AT,
    updated_at=AT + timedelta(seconds=1),
)

HEAD = Head(
    tenant="acme",
    session_id="ses_01",
    agent_id="default",
    created_by="user-1",
    state="executing",
    goal="Summarise the files",
    created_at=AT,
    updated_at=AT + timedelta(seconds=2),
    run=Run(run_id="run_01", generation=2, iteration=3, turn=9, first=12, max_steps=50, events=40),
    plan=PLAN,
    usage=Usage(
        input_tokens=900, output_tokens=100, cached_input_tokens=400, llm_calls=3, tool_calls=2, cost_usd=0.01
    ),
    budget=Budget(token_budget=50_000, charged_tokens=1_000, charged_usd=0.01),
    metadata={"ticket": "42"},
    max_steps=50,
    last_seq=17,
    last_step=5,
    calls=(OpenCall(call_id="call_01", name="read_file"),),
    wait=Wait(token="secret-task-token", entered=AT),
)
