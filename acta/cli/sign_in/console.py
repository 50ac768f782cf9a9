"""`acta console`: the page of a deployment, in a browser."""

import json
import webbrowser
from argparse import Namespace
from collections.abc import Callable

from acta.cli import exit_codes
from acta.cli.connection import deployment_signed_in_to
from acta.cli.sign_in.target import LOCAL
from acta.cli.terminal.text import echo

Opens = Callable[[str], bool]
PAGE = "/console"


def console(arguments: Namespace, *, opens: Opens = webbrowser.open) -> int:
    """The local stack's page opens signed in, by a link that is of use once, within a minute; in AWS people sign in on
    the page. Raises CliError and ClientError.
    """
    if arguments.env and arguments.env != LOCAL:
        address = f"{deployment_signed_in_to(arguments).api_url.rstrip('/')}{PAGE}"
    else:
        # imported only now: it loads what signs tokens
        from acta.cli.local_token import link_of_local_stack

        address = link_of_local_stack(arguments.state, arguments.tenant, arguments.user, arguments.role or ())
    if arguments.json:
        echo(json.dumps({"url": address}))
        return exit_codes.OK
    if arguments.no_browser or not opens(address):
        echo(address)
    return exit_codes.OK
