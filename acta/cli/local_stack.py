"""Tokens of the local stack's development issuer: for `acta token`, and for a command that was given no token."""

import re
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from acta.cli import exit_codes
from acta.cli.exit_codes import CliError
from acta.cli.terminal.text import cli_error, one_line
from acta.client.deployment import Deployment, TokenSource
from acta.engine.people.policies import ROLE_PATTERN
from acta.infra.local.issuer import CLIENT_ID, LocalIssuer, PageLinks
from acta.infra.local.state_directory import DEFAULT_STATE_DIR, NoStack, StateDir

LOCAL_TENANT = "demo"
LOCAL_USER = "you"


def token(arguments: Namespace) -> int:
    """Prints it. Raises CliError."""
    state = StateDir(Path(arguments.state or DEFAULT_STATE_DIR))
    stack = state.read()
    if stack is None:
        raise CliError(
            f"no local stack has been started in {state.path}: start one with `acta dev` or `acta up`, "
            "or name its --state"
        )
    check_person(arguments.tenant, arguments.user, arguments.role or ())
    issuer = LocalIssuer.from_state(state.path, stack.api_url)
    print(issuer.issue_token(arguments.tenant, arguments.user, arguments.role or (), arguments.ttl))
    return exit_codes.OK


def check_person(tenant: str, user: str, roles: Sequence[str]) -> None:
    """Raises CliError."""
    for name, value in (("tenant", tenant), ("user", user)):
        if not value.strip():
            raise CliError(f"--{name} must not be empty")
    for role in roles:
        if not re.fullmatch(ROLE_PATTERN, role):
            raise CliError(f"a role is 1 to 64 of A-Z a-z 0-9 . _ : - not {one_line(role)}")


def link_of_local_stack(state_dir: str | None, tenant: str, user: str, roles: Sequence[str] = ()) -> str:
    """A link to the page of this stack, signed in as that person (without roles: an admin). Raises CliError."""
    check_person(tenant, user, roles)
    state = StateDir(Path(state_dir or DEFAULT_STATE_DIR))
    with cli_error(NoStack):
        running = state.running()
    return PageLinks(state.path).make(running.api_url, tenant, user, tuple(roles) or ("admin",))


def local_sign_in(state_dir: str | None = None) -> tuple[str, str]:
    """The URL of the local stack, which is also its issuer's, and the command line's client there. Raises CliError."""
    with cli_error(NoStack, words="{}, or give --url, --issuer and --client-id"):
        return StateDir(Path(state_dir or DEFAULT_STATE_DIR)).running().api_url, CLIENT_ID


def deployment_of_local_stack(
    state_dir: str | None, token: str | TokenSource | None = None, role: str = "member"
) -> Deployment:
    """The stack that serves `state_dir` (None: the default one), with `token`, else with a new token for `role`.

    Raises CliError if no stack serves the directory.
    """
    state = StateDir(Path(state_dir or DEFAULT_STATE_DIR))
    with cli_error(NoStack, words="{}, or give --api-url and --token"):
        running = state.running()
    if token is None:
        token = LocalIssuer.from_state(state.path, running.api_url).issue_token(
            LOCAL_TENANT, LOCAL_USER, role
        )
    return Deployment(running.api_url, token)
