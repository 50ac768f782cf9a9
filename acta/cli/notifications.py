"""`acta notifications`: the tenant's webhook. Its secret is never an argument, which other programs can see."""

from argparse import Namespace
from collections.abc import Mapping
from typing import Any

from acta.cli import exit_codes
from acta.cli.connection import connect
from acta.cli.terminal import text
from acta.cli.terminal.text import echo, note, visible
from acta.cli.tool_secrets import secret_value
from acta.client.errors import NotFound

ASKED_FOR = "the secret that notifications are signed with"


def show(arguments: Namespace) -> int:
    client = connect(arguments, role="admin")
    try:
        found = client.notifications.read()
    except NotFound:
        if arguments.json:
            echo("null")
        note("nobody is told: set a webhook with acta notifications set URL")
        return exit_codes.OK
    return _tell(found, as_json=arguments.json)


def put(arguments: Namespace) -> int:
    """A secret is asked for where there is none yet."""
    client = connect(arguments, role="admin")
    is_new = False
    try:
        client.notifications.read()
    except NotFound:
        is_new = True
    secret = secret_value(ASKED_FOR) if arguments.secret or is_new else None
    return _tell(client.notifications.write(arguments.url, secret), as_json=arguments.json)


def remove(arguments: Namespace) -> int:
    connect(arguments, role="admin").notifications.delete()
    return exit_codes.OK


def _tell(found: Mapping[str, Any], *, as_json: bool) -> int:
    where = found["url"] or "only sessions with a webhook of their own are told"
    at = str(found["updated_at"])[:16].replace("T", " ")
    said = visible(f"{where}  since {at}, by {found['updated_by']}", keep_newlines=False)
    return text.show(found, [said], as_json=as_json)
