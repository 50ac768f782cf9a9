"""`acta pause|resume|cancel`, `acta approve|reject|answer`: a person's hand on a running session."""

from argparse import Namespace

from infra.cli import exits
from infra.cli.client import Client, session_path
from infra.cli.errors import CliError
from infra.cli.run import snapshot
from infra.cli.target import Target
from infra.cli.watching import say


def control(arguments: Namespace) -> int:
    client = Client(Target.from_arguments(arguments))
    session = client.post(session_path(arguments.id, arguments.action))
    say(f"{arguments.id}  {str(session.get('state', '')).replace('_', ' ')}")
    return exits.OK


def decide(arguments: Namespace) -> int:
    client = Client(Target.from_arguments(arguments))
    identity = arguments.intervention or only_open(client, arguments.id, arguments.option)
    body = {"option": arguments.option, **({"comment": arguments.comment} if arguments.comment else {})}
    client.post(session_path(arguments.id, "interventions", identity, "resolve"), body)
    say(f"{identity}  {arguments.option}")
    return exits.OK


def only_open(client: Client, session_id: str, option: str) -> str:
    """The one open intervention that `option` decides."""
    waiting = snapshot(client, session_id).get("interventions") or []
    fitting = [str(one["intervention_id"]) for one in waiting if option in (one.get("options") or [])]
    if not fitting:
        raise CliError(f"session {session_id} has nothing open to {option}")
    if len(fitting) > 1:
        raise CliError(f"several are open, name one of them: {', '.join(fitting)}")
    return fitting[0]


def answer(arguments: Namespace) -> int:
    client = Client(Target.from_arguments(arguments))
    session = client.post(session_path(arguments.id, "messages"), {"content": arguments.text})
    say(f"{arguments.id}  {str(session.get('state', '')).replace('_', ' ')}")
    return exits.OK
