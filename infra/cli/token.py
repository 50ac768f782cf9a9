"""`acta token`: a token of the local stack's development issuer."""

from argparse import Namespace
from pathlib import Path

from infra.cli import exits
from infra.cli.errors import CliError
from infra.local.issuer import Issuer
from infra.local.state import DEFAULT_STATE_DIR, StateDir


def token(arguments: Namespace) -> int:
    state = StateDir(Path(arguments.state or DEFAULT_STATE_DIR))
    stack = state.read()
    if stack is None:
        raise CliError(
            f"no local stack has been started in {state.path}: start one with `acta up`, or name its --state"
        )
    for name in ("tenant", "user"):
        if not getattr(arguments, name).strip():
            raise CliError(f"--{name} must not be empty")
    issuer = Issuer.from_state(state.path, stack.api_url)
    print(issuer.issue_token(arguments.tenant, arguments.user, arguments.role, arguments.ttl))
    return exits.OK
