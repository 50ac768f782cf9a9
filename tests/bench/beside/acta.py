"""Acta's own bill of a whole session, from a run on the stand."""

from tests.bench.beside.bill import of_requests, per_turn
from tests.bench.beside.prices import Bill
from tests.bench.growth import Figures
from tests.bench.stand.work import Run


def figures(run: Run) -> Figures:
    """Per read, of the whole session: its start, its plan and its end are in it, one reply more than the others."""
    turns = len(run.turns) + 1
    cpu = {"cpu_ms": run.process_ms[0]} if run.process_ms else {}
    return {**per_turn(bill(run), turns), "turns_done": turns, **cpu}


def bill(run: Run) -> Bill:
    """Beside the engine's, one invocation that starts the session, and one of `recover` at the end of each execution.
    The stand has that one switched off, so its reading is not in the figures.
    """
    return of_requests(run.passed)._replace(
        transitions=run.engine.transitions,
        lambda_invocations=run.engine.lambda_invokes + 1 + run.executions,
        gateway_requests=1,
    )
