"""`acta sessions`, `acta plan`, `acta trace`: what is and was."""

import json
import shutil
import sys
from argparse import Namespace
from collections.abc import Iterator, Mapping
from typing import Any

from acta.cli import exits
from acta.cli.client import Client, session_path
from acta.cli.plan_lines import marks_for, plan_lines
from acta.cli.target import Target
from acta.cli.text import one_line
from acta.cli.watching import say

LABEL_WIDTH = 20


def sessions(arguments: Namespace) -> int:
    client = Client(Target.from_arguments(arguments))
    page = client.get("/v1/sessions", limit=arguments.limit, state=arguments.state_is)
    if arguments.json:
        say(json.dumps(page["items"]))
        return exits.OK
    if not page["items"]:
        print("no sessions yet: start one with acta run", file=sys.stderr)
    for session in page["items"]:
        at = str(session.get("created_at", ""))[:19].replace("T", " ")
        state = str(session.get("state", "")).replace("_", " ")
        say(f"{session['session_id']}  {at}  {state:<16}  {one_line(session.get('goal') or '', 60)}")
    return exits.OK


def plan(arguments: Namespace) -> int:
    client = Client(Target.from_arguments(arguments))
    answer = client.get(session_path(arguments.id, "plan"))
    if arguments.json:
        say(json.dumps(answer))
        return exits.OK
    current = answer["plan"]
    say(f"{one_line(current.get('goal', ''), 200)} (version {current['version']}, {current['status']})")
    for line in plan_lines(current, marks_for(sys.stdout.encoding)):
        say(str(line))
    return exits.OK


def trace(arguments: Namespace) -> int:
    client = Client(Target.from_arguments(arguments))
    items = list(client.items(session_path(arguments.id, "trace")))
    if arguments.json:
        say(json.dumps(items))
        return exits.OK
    for item in items:
        for line in trace_lines(item):
            say(line)
    return exits.OK


def trace_lines(item: Mapping[str, Any]) -> Iterator[str]:
    """Thought, action and observation of one step, each on a line of the terminal."""
    limit = max(40, shutil.get_terminal_size((160, 24)).columns - LABEL_WIDTH)
    number = f"{item.get('step_number', ''):>4}"
    if item.get("thought"):
        yield f"{number}  thought      {one_line(item['thought'], limit)}"
    if item.get("action"):
        call = f"{item['action']} {one_line(item.get('action_input') or {}, 500)}"
        yield f"{number}  action       {one_line(call, limit)}"
    if item.get("observation"):
        yield f"{number}  observation  {one_line(item['observation'], limit)}"
    if item.get("final_answer"):
        yield f"{number}  answer       {one_line(item['final_answer'], limit)}"
