"""The route of `start` that starts a schedule's session now (docs/design/schedules.md 17)."""

from contextlib import suppress
from functools import partial

from acta.engine.agents.agent import require_start_role
from acta.engine.agents.store import DefinitionChanged
from acta.engine.api.app import Api
from acta.engine.api.envelope import Response, success
from acta.engine.api.idempotency import Json, requester_of
from acta.engine.clock import SESSION
from acta.engine.schedules.fire import start_scheduled
from acta.engine.schedules.routes import WRITES, require_writer, schedules_of
from acta.engine.schedules.schedule import ScheduleRun
from acta.engine.sessions.answers import session_view
from acta.engine.sessions.start_routes import repeated


def run_schedule(api: Api, schedule_id: str) -> Response:
    """The session is of whoever wrote the schedule, as each of its sessions is."""
    schedule = schedules_of(api).get(schedule_id)
    require_writer(api, schedule, is_content=True)
    requester, tenant, now = requester_of(api.request), api.caller.tenant, api.app.clock.now()
    agent = api.app.definitions.snapshot(tenant).agent(schedule.agent_id)
    if agent is not None:
        require_start_role(agent, api.caller.roles)
    session_id = api.app.clock.new_id(SESSION)

    def act() -> Json:
        head = start_scheduled(api.app.firing, tenant, schedule, now, session_id, requester.key)
        run = ScheduleRun(tick=now, at=now, outcome="started", session_id=session_id, asked=True)
        for _ in range(WRITES):
            there = api.app.schedules.get(tenant, schedule_id)
            with suppress(DefinitionChanged):
                if there is not None:
                    api.app.schedules.replace(tenant, there, there.after(run), [run])
                break
        return session_view(head)

    view = api.app.idempotency.answer(requester.key, act, partial(repeated, api))
    return success(view, 202, {"Location": f"/v1/sessions/{view['session_id']}"})
