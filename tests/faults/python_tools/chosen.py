"""Faults amid calls of Python tools: at every call that `tool` makes, and that the folder's own Lambda makes."""

from collections.abc import Iterable, Sequence

from acta.infra.local.deploy import Silent
from tests.faults import report
from tests.faults.calls import Call
from tests.faults.naming import PYTHON, is_meant, without_prefix
from tests.faults.point import KILLS
from tests.faults.python_tools.stand import FOLDER, PythonToolsStand
from tests.faults.script import LOOK_UP
from tests.faults.sweep import Case, clean_run, deaths, sweep, troubles


def sweep_python(parts: Sequence[str]) -> report.Swept:
    """As `sweep_all`."""
    with PythonToolsStand(Silent()) as stand:
        clean = clean_run(stand)
        calls = clean.track.listing.calls
        chosen = [case for case in cases(calls.values()) if is_meant(case, without_prefix(parts))]
        print(f"{PYTHON}: {len(calls)} calls, {len(chosen)} faults", flush=True)
        verdicts = sweep(
            stand, clean, chosen, lambda verdict: print(report.line(verdict, PYTHON), flush=True)
        )
    return report.Swept(list(calls), verdicts)


def cases(calls: Iterable[Call]) -> list[Case]:
    """What else `tool` asks for in the scenario is that of any tool; a trouble of the folder's own requests is its
    code's to meet. Where the Lambda of a tool that reads dies, the model is told: another end, and the right one.
    """
    of_tool = [call for call in calls if call.function == "tool"]
    of_folder = [call for call in calls if call.function == FOLDER and call.subject.what != LOOK_UP]
    killed = [case for case in deaths(of_folder) if case.faults[0].kind in KILLS]
    return [*deaths(of_tool), *troubles(of_tool), *killed]
