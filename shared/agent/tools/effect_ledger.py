"""The start of a call: nothing with an effect starts before the log says so, whichever attempt it is (design §6.4)."""

from shared.agent.session.position import check_run
from shared.agent.session.repository import Draft, SessionRepository
from shared.agent.session.session import Session
from shared.domain.definitions.tool import Effect
from shared.domain.errors import Refused
from shared.domain.interventions.intervention import input_hash
from shared.domain.session.change import Change
from shared.domain.session.commit import Position
from shared.domain.session.conversation import ToolCall
from shared.domain.session.head import Head


class Withdrawn(Exception):
    """The session was cancelled, paused or moved on before the call started: it is not started."""


def begin(
    repository: SessionRepository, session: Session, at: Position, call: ToolCall, effect: Effect | None
) -> bool:
    """Whether an attempt before this one may have had the effect. `effect` None: the tool is not there any more.

    Raises Withdrawn and Fenced: then nothing may start.
    """
    if effect is None or effect == "read":
        _may_start(session.head, at, call.call_id)
        return False
    if _log_start(repository, session, at, call):
        return False
    if effect == "idempotent":
        _log_again(repository, session, at, call)
    return True


def call_event_data(call: ToolCall) -> dict[str, str]:
    """What the events of a call tell of it."""
    hashed = input_hash(call.input or {})
    return {"call_id": call.call_id, "effect_id": call.effect_id, "name": call.name, "input_hash": hashed}


def _log_start(repository: SessionRepository, session: Session, at: Position, call: ToolCall) -> bool:
    """A call with an effect appends its start first: after a cancel's 2xx none is started any more (§6.4).

    False: its start was logged before, by an attempt that may have had the effect.
    """
    mine = repository.clock.new_id("try")
    before = session.head.open_call(call.call_id)
    tries = before.tries if before is not None else 0

    def build(now: Session, change: Change) -> Draft:
        _may_start(now.head, at, call.call_id)
        open_call = change.head.open_call(call.call_id)
        assert open_call is not None
        started = open_call.model_copy(update={"state": "started", "starter": mine})
        change.set(calls=change.head.with_call(started).calls)
        change.event("tool.started", call_event_data(call))
        return Draft(change)

    repository.commit(session, at.call_key(call.call_id, f"start-{tries}"), build)
    logged = session.head.open_call(call.call_id)
    return logged is not None and logged.starter == mine


def _log_again(repository: SessionRepository, session: Session, at: Position, call: ToolCall) -> None:
    """The start that is logged is another attempt's, and what has come since may forbid this one: it has to win a
    number of its own, with nothing to say, before it reaches out.
    """

    def build(now: Session, change: Change) -> Draft:
        _may_start(now.head, at, call.call_id)
        return Draft(change)

    repository.commit(session, at.call_key(call.call_id, f"again/{repository.clock.new_id('try')}"), build)


def _may_start(head: Head, at: Position, call_id: str) -> None:
    check_run(head, at)
    open_call = head.open_call(call_id)
    if head.is_over or head.interventions or open_call is None or open_call.state == "done":
        raise Withdrawn
    if open_call.approval == "needed":  # whatever led here: the model is told that it was not run
        raise Refused("a call that needs an approval has none")
