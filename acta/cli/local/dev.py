"""`acta dev` serves all of Acta from one process, on a file in the state directory, until it is stopped."""

import time
import webbrowser
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from acta.cli import exit_codes
from acta.cli.local.ready import (
    DEFAULT_PORT,
    announce,
    page_link,
    put_samples,
    say_of_tools,
    tell_of_missing_tools,
)
from acta.cli.terminal.prompt import stopped_by_signals
from acta.cli.terminal.text import cli_error, note
from acta.engine.settings import SettingsError
from acta.infra.environments import UnusableValue
from acta.infra.local.state_directory import DEFAULT_STATE_DIR, StateInUse
from acta.infra.local.tool_watch import SECONDS_BETWEEN_LOOKS
from acta.infra.packaging.bundle import NotMade
from acta.local_aws.reverse_proxy import PortTaken

if TYPE_CHECKING:
    from acta.embedded.dev import Dev

DIFFERS = (
    "It is the API that runs in AWS, in one process on one file: without IAM, alarms and Lambda functions as tools "
    "(acta up has them)."
)


def dev(arguments: Namespace) -> int:
    """Serves until Ctrl-C or SIGTERM."""
    # imported only now: it needs more than the other commands, and says so where something is missing
    from acta.embedded.dev import Dev

    state = Path(arguments.state or DEFAULT_STATE_DIR)
    with stopped_by_signals(), cli_error(SettingsError, cut=400):
        served = Dev(
            state,
            port=arguments.port,
            # for the default directory: tokens name the URL as their issuer, so it has to be the same each time
            preferred_port=DEFAULT_PORT if arguments.state is None else None,
            say=say_of_tools,
            tool_log=say_tool_line,
        )
        for name in served.config.unknown:
            note(f"acta: nothing reads {name}; is it misspelt?")
        try:
            mistakes = PortTaken, StateInUse, NotMade, UnusableValue
            with cli_error(OSError, words=f"{state}: {{}}"), cli_error(*mistakes, cut=500):
                served.start()
            serve(served, arguments)
        except KeyboardInterrupt:
            note("stopped; sessions that were at work go on at the next acta dev")
            return exit_codes.OK
        finally:
            served.stop()


def serve(served: "Dev", arguments: Namespace) -> NoReturn:
    """Raises KeyboardInterrupt at a signal."""
    if arguments.samples:
        put_samples(served)
    announce(served, served.tools.names, DIFFERS, {} if arguments.json else None)
    if arguments.open:
        webbrowser.open(page_link(served))
    missing = set[str]()
    tell_of_missing_tools(served, missing)
    while True:
        time.sleep(SECONDS_BETWEEN_LOOKS)
        if served.tools.look():
            tell_of_missing_tools(served, missing)


def say_tool_line(fields: Mapping[str, Any]) -> None:
    """Shows a line that a tool printed."""
    from acta.cli.operations.logs import first_line, further_lines, is_of_a_tool  # few starts print one

    said = [first_line(fields), *further_lines(fields)] if is_of_a_tool(fields) else [str(fields["message"])]
    say_of_tools("\n".join([f"tools: {said[0]}", *said[1:]]))
