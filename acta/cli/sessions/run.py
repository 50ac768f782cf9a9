"""`acta run`, `acta watch`; `acta pause`, `acta resume`, `acta cancel`."""

import json
import sys
from argparse import Namespace

from acta.cli import exit_codes
from acta.cli.connection import connect
from acta.cli.sessions.follow import follow_as_json, follow_on_screen
from acta.cli.terminal.session_lines import state_words
from acta.cli.terminal.text import echo


def run(arguments: Namespace) -> int:
    client = connect(arguments)
    session = client.start(
        arguments.goal,
        max_steps=arguments.max_steps,
        token_budget=arguments.token_budget,
        review_every=arguments.review_every,
        visibility="private" if arguments.private else None,
    )
    session_id = str(session["session_id"])
    if arguments.detach:
        echo(json.dumps(session) if arguments.json else session_id)
        return exit_codes.OK
    if arguments.json:
        print(f"session {session_id}", file=sys.stderr, flush=True)
        return follow_as_json(client, session_id, arguments)
    echo(f"session {session_id}")
    return follow_on_screen(client, session_id, arguments)


def watch(arguments: Namespace) -> int:
    return follow_on_screen(connect(arguments), arguments.id, arguments)


def control(arguments: Namespace) -> int:
    """`arguments.action`: pause, resume or cancel."""
    session = getattr(connect(arguments), arguments.action)(arguments.id)
    echo(f"{arguments.id}  {state_words(session)}")
    return exit_codes.OK
