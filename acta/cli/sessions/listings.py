"""`acta sessions`, `acta plan`, `acta trace`: the sessions, what one plans, and what it thought and did."""

import json
import shutil
import sys
from argparse import Namespace
from collections.abc import Iterator, Mapping
from typing import Any

from acta.cli import exit_codes
from acta.cli.connection import connect
from acta.cli.terminal.session_lines import marks_for, plan_lines, state_words
from acta.cli.terminal.text import echo, one_line

LABEL_WIDTH = 20


def sessions(arguments: Namespace) -> int:
    client = connect(arguments)
    page = client.get("/v1/sessions", limit=arguments.limit, state=arguments.state_is)
    if arguments.json:
        echo(json.dumps(page["items"]))
        return exit_codes.OK
    if not page["items"]:
        state = arguments.state_is
        none = (
            f"no sessions in the state {one_line(state)}"
            if state
            else "no sessions yet: start one with acta run"
        )
        print(none, file=sys.stderr)
    for session in page["items"]:
        at = str(session.get("created_at", ""))[:19].replace("T", " ")
        goal = one_line(session.get("goal") or "", 60)
        private = "(private) " if session.get("visibility") == "private" else ""
        echo(f"{session['session_id']}  {at}  {state_words(session):<16}  {private}{goal}")
    return exit_codes.OK


def plan(arguments: Namespace) -> int:
    client = connect(arguments)
    answer = client.plan(arguments.id)
    if arguments.json:
        echo(json.dumps(answer))
        return exit_codes.OK
    current = answer["plan"]
    echo(f"{one_line(current.get('goal', ''), 200)} (version {current['version']}, {current['status']})")
    for line in plan_lines(current, marks_for(sys.stdout.encoding)):
        echo(str(line))
    return exit_codes.OK


def trace(arguments: Namespace) -> int:
    client = connect(arguments)
    items = list(client.trace(arguments.id))
    if arguments.json:
        echo(json.dumps(items))
        return exit_codes.OK
    for item in items:
        for line in trace_lines(item):
            echo(line)
    return exit_codes.OK


def trace_lines(item: Mapping[str, Any]) -> Iterator[str]:
    """The thought, the action and the observation of one step, each cut to a line of the terminal. `+` behind the
    number: made by the worker of the step before.
    """
    limit = max(40, shutil.get_terminal_size((160, 24)).columns - LABEL_WIDTH)
    number = f"{item.get('step_number', ''):>4}" + ("+" if item.get("fused") else " ")
    if item.get("thought"):
        yield f"{number} thought      {one_line(item['thought'], limit)}"
    if item.get("action"):
        call = f"{item['action']} {one_line(item.get('action_input') or {}, 500)}"
        yield f"{number} action       {one_line(call, limit)}"
    if item.get("observation"):
        yield f"{number} observation  {one_line(item['observation'], limit)}"
    if item.get("final_answer"):
        yield f"{number} answer       {one_line(item['final_answer'], limit)}"
