"""`acta token`: a token of the local stack's development issuer."""

import re
from argparse import Namespace
from pathlib import Path

from acta.cli import exits
from acta.cli.errors import CliError
from acta.cli.text import one_line
from infra.local.issuer import Issuer
from infra.local.state import DEFAULT_STATE_DIR, StateDir
from shared.domain.interventions.intervention import ROLE_PATTERN


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
    for role in arguments.role or ():
        if not re.fullmatch(ROLE_PATTERN, role):
            raise CliError(f"a role is 1 to 64 of A-Z a-z 0-9 . _ : - not {one_line(role)}")
    issuer = Issuer.from_state(state.path, stack.api_url)
    print(issuer.issue_token(arguments.tenant, arguments.user, arguments.role or (), arguments.ttl))
    return exits.OK
