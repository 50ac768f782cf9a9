"""The Plan and Think states (design §2)."""

from typing import Any

from functions.step.root import worker
from shared.agent.plan import plan
from shared.agent.think import think
from shared.api.engine import engine_event
from shared.api.telemetry import Telemetry
from shared.domain.errors import Refused
from shared.settings import settings

COMMIT_SECONDS = 8
"""Of the Lambda's time, what is kept back from the model for reading and committing."""

telemetry = Telemetry("step")


def handle(event: dict[str, Any], context: Any) -> dict[str, object]:
    step = engine_event(event)
    telemetry.logger.info("step", extra=step.ids)
    left = context.get_remaining_time_in_millis() / 1000 - COMMIT_SECONDS
    timeout = max(1.0, min(settings().step_deadline_seconds, left))
    match step.op:
        case "plan":
            return plan(worker(), step.at, step.attempt, timeout).to_engine()
        case "think":
            return think(worker(), step.at, step.attempt, timeout).to_engine()
        case _:
            raise Refused(f"step does not do {step.op}")


handler = telemetry.watch(handle)
