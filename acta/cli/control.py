"""`acta pause|resume|cancel`, `acta approve|reject|raise|finish|resolve`, `acta answer`: a person's hand on a
running session."""

import json
from argparse import Namespace
from collections.abc import Mapping, Sequence
from typing import Any

from acta.cli import exits
from acta.cli.client import Client, session_path
from acta.cli.errors import CliError
from acta.cli.follow import open_interventions
from acta.cli.hints import Invocation, deciding_lines
from acta.cli.interventions import brief, is_intervention, session_of
from acta.cli.run import snapshot
from acta.cli.target import Target
from acta.cli.text import one_line
from acta.cli.watching import say


def control(arguments: Namespace) -> int:
    client = Client(Target.from_arguments(arguments))
    session = client.post(session_path(arguments.id, arguments.action))
    say(f"{arguments.id}  {str(session.get('state', '')).replace('_', ' ')}")
    return exits.OK


def decide(arguments: Namespace) -> int:
    given = input_of(arguments)
    client = Client(Target.from_arguments(arguments))
    session_id, identity = arguments.id, arguments.intervention
    if identity is None and is_intervention(session_id):
        session_id, identity = session_of(client, session_id), session_id
    identity = identity or only_open(client, arguments)
    body = {"option": arguments.option, "input": given, "comment": arguments.comment}
    client.post(
        session_path(session_id, "interventions", identity, "resolve"),
        {name: value for name, value in body.items() if value},
    )
    say(f"{identity}  {arguments.option}")
    return exits.OK


def input_of(arguments: Namespace) -> dict[str, Any]:
    """What the option needs besides its name: --input's JSON object, or `acta raise`'s limits."""
    limits = {name: getattr(arguments, name, None) for name in ("token_budget", "cost_budget_usd")}
    given: dict[str, Any] = {name: value for name, value in limits.items() if value is not None}
    if arguments.option == "raise" and hasattr(arguments, "token_budget") and not given:
        raise CliError("raise needs --token-budget N or --cost-budget-usd N")
    if getattr(arguments, "input", None) is None:
        return given
    try:
        value = json.loads(arguments.input)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise CliError('--input takes a JSON object, such as {"result": "it was sent"}')
    return value


def only_open(client: Client, arguments: Namespace) -> str:
    """The one open intervention that the option decides."""
    session_id, option = arguments.id, arguments.option
    waiting = open_interventions(snapshot(client, session_id))
    fitting = [one for one in waiting if option in (one.get("options") or [])]
    if len(fitting) > 1:
        raise CliError("\n  ".join(["several are open, name one of them:", *map(brief, fitting)]))
    if not fitting:
        raise CliError(
            f"session {session_id} has nothing open to {one_line(option)}{open_now(arguments, waiting)}"
        )
    return str(fitting[0]["intervention_id"])


def open_now(arguments: Namespace, waiting: Sequence[Mapping[str, Any]]) -> str:
    """What is open instead, and what decides it; empty when nothing is."""
    if not waiting:
        return ""
    invocation = Invocation.from_arguments(arguments)
    kinds = ", ".join(one_line(str(one.get("type", "")).replace("_", " ")) for one in waiting)
    lines = [line for one in waiting for line in deciding_lines(invocation, arguments.id, one)]
    return f"; open: {kinds}; decide with one of: {'; '.join(lines)}"


def answer(arguments: Namespace) -> int:
    """Refused while something else is asked: the text would only queue behind that decision."""
    client = Client(Target.from_arguments(arguments))
    if is_intervention(arguments.id):
        path = session_path(session_of(client, arguments.id), "interventions", arguments.id, "resolve")
        client.post(path, {"option": "answer", "input": {"text": arguments.text}})
        say(f"{arguments.id}  answer")
        return exits.OK
    waiting = open_interventions(snapshot(client, arguments.id))
    if waiting and not any("answer" in (one.get("options") or []) for one in waiting):
        raise CliError(f"session {arguments.id} has nothing open to answer{open_now(arguments, waiting)}")
    session = client.post(session_path(arguments.id, "messages"), {"content": arguments.text})
    say(f"{arguments.id}  {str(session.get('state', '')).replace('_', ' ')}")
    return exits.OK
