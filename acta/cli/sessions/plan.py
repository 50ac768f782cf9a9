"""`acta plan`: shows a session's plan, or edits its steps that are still to be done."""

import json
import sys
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from acta.cli.connection import connect, session_named
from acta.cli.definitions import text_of
from acta.cli.exit_codes import CliError
from acta.cli.terminal.session_lines import DESCRIPTION_LIMIT, MARKS, marks_for, plan_lines
from acta.cli.terminal.text import one_line, show
from acta.client.api import Client
from acta.client.following import has_ended

Row = Mapping[str, Any]


def plan(arguments: Namespace) -> int:
    """With operations it sends them for the version that it has just read: where somebody else has changed the plan
    in between, nothing is done and the person is told.
    """
    client = connect(arguments)
    session_id = session_named(client, arguments.id)
    answer: Row = client.plan(session_id)
    operations = operations_of(arguments, answer["plan"])
    if operations:
        version = answer["plan"]["version"]
        edited = client.edit_plan(session_id, operations, version=version, comment=arguments.comment)
        answer = {**answer, "plan": edited}
    elif arguments.comment is not None:
        raise CliError("--comment goes with a change: --change, --skip, --add, --move or --from")
    return show(answer, lines_of(client, session_id, answer["plan"]), as_json=arguments.json)


def lines_of(client: Client, session_id: str, shown: Row) -> Iterator[str]:
    session = client.session(session_id)
    yield plan_heading(shown, session)
    yield from whole_plan_lines(shown, marks_for(sys.stdout.encoding), is_over=has_ended(session))


def operations_of(arguments: Namespace, shown: Row) -> list[Row]:
    """In this order: those of the file, changes, skips, moves, additions. Raises CliError."""
    found: list[Row] = operations_in(arguments.source) if arguments.source else []
    found += [
        {"op": "edit", "step_number": number, "description": text} for number, text in arguments.change or ()
    ]
    found += [{"op": "skip", "step_number": number} for number in arguments.skip or ()]
    found += moved(shown, arguments.skip or (), arguments.move or ())
    return found + [{"op": "add", "description": text} for text in arguments.add or ()]


def operations_in(source: str) -> list[Row]:
    """As in the body of `PATCH /v1/sessions/{id}/plan`. Raises CliError."""
    try:
        value = json.loads(text_of(source))
    except ValueError as error:
        raise CliError(f"{source}: it is no JSON: {error}") from None
    operations = value.get("operations") if isinstance(value, dict) else value
    if not isinstance(operations, list) or not operations:
        raise CliError(
            f'{source}: a list of operations is needed, such as [{{"op": "skip", "step_number": 3}}]'
        )
    return operations


def moved(shown: Row, skipped: Sequence[int], moves: Sequence[tuple[int, int]]) -> list[Row]:
    """One operation that brings all pending steps into their new order. Raises CliError."""
    if not moves:
        return []
    steps = shown.get("steps") or ()
    order = [one["step_number"] for one in steps if one["status"] == "pending"]
    order = [number for number in order if number not in skipped]
    for number, before in moves:
        for each in (number, before):
            if each not in order:
                raise CliError(f"step {each} is not pending: only pending steps can be moved")
        if number != before:
            order.remove(number)
            order.insert(order.index(before), number)
    return [{"op": "reorder", "step_numbers": order}]


DONE = ("completed", "skipped")
RESULT_LIMIT = 300


def plan_heading(plan: Mapping[str, Any], session: Mapping[str, Any]) -> str:
    """Its goal, its version, and how far it is; of an ended session that it is over."""
    steps = plan.get("steps") or []
    done = sum(step.get("status") in DONE for step in steps)
    percent = f", {done} of {len(steps)} steps, {100 * done // len(steps)} %" if steps else ""
    state = str(session.get("state"))
    status = state if state in ("failed", "cancelled") else str(plan.get("status"))
    goal = one_line(plan.get("goal", ""), 200)
    return f"{goal} (version {plan.get('version')}, {one_line(status.replace('_', ' '), 40)}{percent})"


def whole_plan_lines(
    plan: Mapping[str, Any], marks: Mapping[str, str] = MARKS, *, is_over: bool = False
) -> Iterator[str]:
    """`is_over`: nobody works on it any more."""
    steps = [
        {**step, "status": "left"} if is_over and step.get("status") == "in_progress" else step
        for step in plan.get("steps") or []
    ]
    for step, line in zip(steps, plan_lines({**plan, "steps": steps}, marks), strict=True):
        yield str(line) + (" (not finished)" if line.status == "left" else "")
        if step.get("result"):
            yield f"       {one_line(step['result'], RESULT_LIMIT)}"
    for number, risk in enumerate(plan.get("risks") or []):
        yield f"{'risks: ' if number == 0 else '       '}{one_line(risk, DESCRIPTION_LIMIT)}"
