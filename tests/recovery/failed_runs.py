"""Runs that failed for a reason that lies outside of them."""

from acta.engine.turn.endings import failed
from tests.in_process.house import TENANT, House


def fail_from_outside(house: House, session_id: str, code: str = "STEP_FAILED") -> None:
    repository = house.fresh_repository()
    session = repository.newest(TENANT, session_id)
    for change in repository.attempts(session, "run/1/1/give_up"):
        change.commit(failed(change, code, "It did not answer."))
