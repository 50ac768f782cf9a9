"""`acta interventions` lists what waits for a person; `acta approve`, `reject`, `raise`, `finish`, `resolve` and
`answer` decide it.
"""

import json
from argparse import Namespace
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import chain, islice
from typing import Any

from acta.cli import exit_codes
from acta.cli.connection import Invocation, connect
from acta.cli.exit_codes import CliError
from acta.cli.interventions.lines import (
    LIMITS,
    deciding_lines,
    is_pause,
    list_line,
    needed_limits,
    short_line,
)
from acta.cli.naming import session_named
from acta.cli.terminal.session_lines import state_words
from acta.cli.terminal.text import echo, note, one_line, show
from acta.client.api import Client
from acta.client.errors import ApiError
from acta.client.interventions import has_ended, is_intervention_id, open_interventions
from acta_engine.untrusted.exact_json import read_exactly

NOT_FOUND = 404
PAGE_SIZE = 100
MAX_SEARCHED = 500
"""How many of the tenant's last interventions are searched for one that is no longer open."""


def interventions(arguments: Namespace) -> int:
    """Those of all of the tenant's sessions."""
    waiting = list(connect(arguments).interventions(state="pending"))
    if arguments.json:
        echo(json.dumps(waiting))
        return exit_codes.OK
    if not waiting:
        note("nothing waits for a person")
        return exit_codes.OK
    now = datetime.now(UTC)
    for one in waiting:
        echo(list_line(one, now))
    invocation = Invocation.from_arguments(arguments)
    pauses = [is_pause(one) for one in waiting]
    if not all(pauses):
        decide, watch = invocation.line("approve", "ID"), invocation.line("watch", "SESSION")
        note(f"decide with {decide} (or reject, answer, resolve); what fits: {watch}")
    if any(pauses):
        note(f"continue what is paused with {invocation.line('resume', 'SESSION')}")
    return exit_codes.OK


def decide(arguments: Namespace) -> int:
    """`arguments.id` is a session's id or an intervention's own."""
    given = option_input(arguments)
    client = connect(arguments)
    intervention_id = arguments.intervention
    if intervention_id is None and is_intervention_id(arguments.id):
        session_id, intervention_id = session_of(client, arguments.id), arguments.id
    else:
        arguments.id = session_id = session_named(client, arguments.id)
    intervention_id = intervention_id or only_open(client, arguments)
    decided = client.decide(
        session_id, intervention_id, arguments.option, input=given or None, comment=arguments.comment or None
    )
    show(decided, [f"{intervention_id}  {arguments.option}"], as_json=arguments.json)
    if arguments.option == "raise":
        for limit, needed in needed_limits(decided).items():
            if given.get(limit, needed) < needed:
                note(
                    f"acta: the next call needs {LIMITS[limit]} {needed} at full length: with {given[limit]} it is cut "
                    "short, or asked about again"
                )
    return exit_codes.OK


def answer(arguments: Namespace) -> int:
    """Sends the text as a message, which answers an open question of the session, or as an intervention's decision.

    Raises CliError where the session waits for something else, behind which the message would only wait, and where it
    has ended: an answer to nothing would begin another run.
    """
    client = connect(arguments)
    if is_intervention_id(arguments.id):
        given = {"text": arguments.text}
        decided = client.decide(session_of(client, arguments.id), arguments.id, "answer", input=given)
        return show(decided, [f"{arguments.id}  answer"], as_json=arguments.json)
    arguments.id = session_named(client, arguments.id)
    now = client.session(arguments.id)
    waiting = open_interventions(now)
    if waiting and not any("answer" in (one.get("options") or []) for one in waiting):
        raise CliError(f"session {arguments.id} has nothing open to answer{open_instead(arguments, waiting)}")
    if has_ended(now):
        line = Invocation.from_arguments(arguments).line("say", arguments.id, arguments.text)
        raise CliError(f"session {arguments.id} is {state_words(now)} and asks nothing; to go on: {line}")
    session = client.say(arguments.id, arguments.text)
    return show(session, [f"{arguments.id}  {state_words(session)}"], as_json=arguments.json)


def option_input(arguments: Namespace) -> dict[str, Any]:
    """What the option needs besides its name: the object of --input, or the limits of `acta raise`."""
    limits = {name: getattr(arguments, name, None) for name in LIMITS}
    given: dict[str, Any] = {name: value for name, value in limits.items() if value is not None}
    if arguments.option == "raise" and hasattr(arguments, "token_budget") and not given:
        raise CliError("raise needs --token-budget N or --cost-budget USD")
    if getattr(arguments, "input", None) is None:
        return given
    expected = '--input takes a JSON object, such as {"result": "it was sent"}'
    try:
        value = read_exactly(arguments.input)
    except (ValueError, RecursionError) as error:
        raise CliError(f"{expected}: {error}") from None
    if not isinstance(value, dict):
        raise CliError(expected)
    return value


def session_of(client: Client, intervention_id: str) -> str:
    """The id of the intervention's session. Raises CliError where none is found.

    The closed ones are searched too, the newest `MAX_SEARCHED`: a decision on one of them is refused, and the refusal
    says what was decided.
    """
    waiting, newest = client.interventions(state="pending"), client.interventions(limit=PAGE_SIZE)
    for one in chain(waiting, islice(newest, MAX_SEARCHED)):
        if one["intervention_id"] == intervention_id:
            return one["session_id"]
    raise CliError(
        f"nothing that waits for a person has the id {one_line(intervention_id)}, and none of the last "
        f"{MAX_SEARCHED} that were asked; if it is an older one, name its session before it"
    )


def only_open(client: Client, arguments: Namespace) -> str:
    """The id of the one open intervention that has the option. Raises CliError where there are none or several."""
    session_id, option = arguments.id, arguments.option
    waiting = decidable(client, session_id)
    fitting = [one for one in waiting if option in (one.get("options") or [])]
    if len(fitting) > 1:
        raise CliError("\n  ".join(["several are open, name one of them:", *map(short_line, fitting)]))
    if not fitting:
        instead = open_instead(arguments, waiting)
        raise CliError(f"session {session_id} has nothing open to {one_line(option)}{instead}")
    return str(fitting[0]["intervention_id"])


def decidable(client: Client, session_id: str) -> Sequence[Mapping[str, Any]]:
    """What is open in the session. Of somebody's private one, which is not there otherwise: what a role decides."""
    try:
        return open_interventions(client.session(session_id))
    except ApiError as error:
        if error.status != NOT_FOUND:
            raise
        return list(client.interventions(session_id))


def open_instead(arguments: Namespace, waiting: Sequence[Mapping[str, Any]]) -> str:
    """The end of an error message: what else is open and which commands decide it; empty where nothing is."""
    if not waiting:
        return ""
    invocation = Invocation.from_arguments(arguments)
    kinds = ", ".join(one_line(str(one.get("type", "")).replace("_", " ")) for one in waiting)
    lines = [line for one in waiting for line in deciding_lines(invocation, arguments.id, one)]
    return f"; open: {kinds}; decide with one of: {'; '.join(lines)}"
