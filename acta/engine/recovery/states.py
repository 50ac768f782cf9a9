"""The states of the engine in which no model and no tool is called: it waits for people, handles an error, parks a run
or rolls it over. Whoever does their work, the Lambda `intervene` or `acta dev`, does it here.

Each use case is imported when its state comes: `intervene` answers people, and a cold start need not wait for these.
"""

from typing import Any

from acta.engine.app import App
from acta.engine.errors import Refused
from acta.engine.log.head import Wait
from acta.engine.turn.engine import EngineEvent


def perform_state(app: App, step: EngineEvent) -> dict[str, Any]:
    """What the engine goes on with. For most states it needs nothing. Call it with the tenant bound."""
    match step.op:
        case "ask":
            if step.entered is None:
                raise Refused("a wait without the time of its beginning")
            from acta.engine.people.wait import ask

            wait = Wait(token=step.task_token, entered=step.entered, attempt=step.attempt)
            ask(app.repository, app.workflow, app.timeouts, step.at, wait)
        case "handle_error":
            from acta.engine.recovery.handle_error import handle_error

            return handle_error(app, step.at, step.error).to_engine()
        case "park":
            from acta.engine.recovery.handle_error import park

            return park(app, step.at).to_engine()
        case "roll_over":
            from acta.engine.recovery.recover import roll_over

            roll_over(app.repository, app.workflow, step.at)
        case _:
            raise Refused(f"intervene does not do {step.op}")
    return {}
