"""The options --env, --api-url, --token, --insecure and --state: which deployment is called, how to name it in another
command, and how a person names a session of it.
"""

import os
import re
import shlex
import shutil
import sys
from argparse import Namespace
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acta import __version__
from acta.cli.exit_codes import CliError
from acta.cli.terminal.text import note, one_line, visible
from acta.client.deployment import API_URL, TOKEN, Deployment, token_in

if TYPE_CHECKING:
    from acta.client.api import Client


def connect(arguments: Namespace, *, role: str = "member") -> "Client":
    """A client of the deployment that the command's options name. Raises CliError or ClientError."""
    # imported only now: it loads what speaks HTTP, and `acta dev` must not wait for that
    from acta.client.api import Client

    client = Client(deployment_of(arguments, role=role))
    client.caller.http.event_hooks = {"response": [VersionNotice(getattr(arguments, "env", None))]}
    return client


class VersionNotice:
    """Tells once, on standard error, if an answer comes from another version of Acta than the command line's.

    `environment`: the deployment's, if it is known.
    """

    def __init__(self, environment: str | None) -> None:
        self._environment = environment or "NAME"
        self._told = False

    def __call__(self, response: Any) -> None:
        text = response.headers.get("Acta-Version", "")
        parts = text.split(".")
        if self._told or text == __version__ or not all(each.isascii() and each.isdigit() for each in parts):
            return
        self._told = True
        is_newer = [int(each) for each in parts] > [int(each) for each in __version__.split(".")]
        remedy = "pip install -U acta-agents" if is_newer else f"acta deploy --env {self._environment}"
        compared = "newer" if is_newer else "older"
        note(
            f"acta: the deployment is {compared} than this command ({text}, {__version__}): {one_line(remedy)}"
        )


def deployment_of(
    arguments: Namespace, environ: Mapping[str, str] = os.environ, *, role: str = "member"
) -> Deployment:
    """The deployment of --env if it is given, else of --api-url and --token, else of the environment variables, else
    the local stack of --state.

    `role`: what the command needs; a token for the local stack is made with it. Raises CliError or ClientError.
    """
    if getattr(arguments, "env", None):
        return deployment_signed_in_to(arguments)
    from_environ = {} if arguments.state else environ
    url = arguments.api_url or from_environ.get(API_URL)
    token = arguments.token or token_in(from_environ)
    if url and token:
        return Deployment(url, token, insecure=bool(getattr(arguments, "insecure", False)))
    if url:
        raise CliError(f"a token is missing for {one_line(url)}: give --token or set {TOKEN}")
    # imported only now: it loads what signs tokens, and a command with a token must not wait for that
    from acta.cli.local_stack import deployment_of_local_stack

    return deployment_of_local_stack(arguments.state, token, role)


def deployment_signed_in_to(arguments: Namespace) -> Deployment:
    """If --token is given, it is sent instead of the sign-in's token."""
    if getattr(arguments, "api_url", None) or arguments.state:  # not every command has --api-url
        raise CliError("--env names the deployment: leave --api-url and --state out")
    # imported only now: most commands for a local stack do not need it
    from acta.client.sign_in.stored_tokens import signed_in

    signed = signed_in(arguments.env)
    token = getattr(arguments, "token", None)
    return Deployment(signed.api_url, token) if token else signed


@dataclass(frozen=True)
class Invocation:
    """How to call `acta` again from the same place, for the same deployment.

    `options`: those that name the deployment, as the person gave them; a token is replaced by the word TOKEN.
    """

    program: str = "acta"
    options: tuple[str, ...] = ()

    @classmethod
    def from_arguments(cls, arguments: Namespace, called: str | None = None) -> "Invocation":
        """`called`: the path by which the program was started (default: that of this process)."""
        options: list[str] = []
        for name in ("env", "api_url", "state"):
            value = getattr(arguments, name, None)
            if value:
                options += [f"--{name.replace('_', '-')}", str(value)]
        if getattr(arguments, "token", None):
            options += ["--token", "TOKEN"]
        if getattr(arguments, "insecure", False):
            options.append("--insecure")
        return cls(program_name(sys.argv[0] if called is None else called), tuple(options))

    def line(self, *words: str) -> str:
        """The command with these words, quoted for a shell and safe to print."""
        return visible(shlex.join([self.program, *words, *self.options]), keep_newlines=False)


def program_name(called: str) -> str:
    """`acta` if a shell finds this very program by that name, else the path by which it was called."""
    if Path(called).name != "acta":
        return "acta"
    found = shutil.which("acta")
    try:
        return "acta" if found and os.path.samefile(found, called) else called
    except OSError:
        return called


LAST = "last"
PREFIX = "ses_"
FULL = re.compile(r"ses_[0-9A-Z]{26}")
MOST_LOOKED_AT = 500
"""How many of the newest sessions are looked through for an id that was given in part."""


def session_named(client: "Client", text: str) -> str:
    """A session's whole id. `last` is the newest that the caller has started, so that nobody decides about another
    person's session by mistake. Raises CliError if several sessions fit, or none.

    The beginning of an id may be given without `ses_`.
    """
    if FULL.fullmatch(text):
        return text
    if text == LAST:
        newest = next(client.sessions(created_by=client.me()["user"], limit=1), None)
        if newest is None:
            raise CliError(
                "you have not started a session yet: start one with acta run, or name one of acta sessions"
            )
        return newest["session_id"]
    beginning = text.upper().removeprefix(PREFIX.upper())
    known = (one["session_id"] for one in islice(client.sessions(limit=100), MOST_LOOKED_AT))
    fitting = [one for one in known if beginning and one.removeprefix(PREFIX).startswith(beginning)]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        raise CliError("\n  ".join([f"several sessions begin with {one_line(text)}:", *fitting[:10]]))
    raise CliError(
        f"no session of the newest {MOST_LOOKED_AT} has an id that begins with {one_line(text)}: see acta sessions"
    )
