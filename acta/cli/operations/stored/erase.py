"""`acta erase`: everything of a tenant, or of one person in it, is removed for good."""

import json
from argparse import Namespace
from datetime import UTC, timedelta

from acta.cli import exit_codes
from acta.cli.aws_errors import aws_errors
from acta.cli.operations.stored.confirm import confirm
from acta.cli.operations.target import account_of, environment_of
from acta.cli.terminal.text import echo, one_line
from infra.deployed.tenants.erase import TOKEN_LIFE, Receipt, erase_tenant, erase_user, eraser_of
from infra.environments import OwnPool


def erase(arguments: Namespace) -> int:
    """Exit code `WAITING` where it has to be run again. Raises CliError."""
    tenant, user = arguments.tenant, arguments.user
    with aws_errors():
        auth = environment_of(arguments).auth
        life = timedelta(minutes=auth.token_minutes) if isinstance(auth, OwnPool) else TOKEN_LIFE
        eraser = eraser_of(account_of(arguments), life)
        confirm(f"All of {one_line(user or tenant)} is erased for good.", user or tenant, arguments.confirm)
        receipt = erase_tenant(eraser, tenant) if user is None else erase_user(eraser, tenant, user)
    if arguments.json:
        until = None if receipt.until is None else receipt.until.isoformat()
        echo(
            json.dumps({"removed": dict(receipt.removed), "again_after": until, "wrote_to": receipt.wrote_to})
        )
    else:
        _show(receipt, user or tenant)
    return exit_codes.OK if receipt.until is None else exit_codes.WAITING


def _show(receipt: Receipt, name: str) -> None:
    removed = ", ".join(f"{number} {kind}" for kind, number in receipt.removed.items() if number)
    echo(f"erased of {one_line(name)}: {removed or 'nothing was there'}")
    for session_id in receipt.wrote_to:
        echo(f"{one_line(session_id)} of somebody else has messages of theirs: acta erase leaves it")
    if receipt.until is not None:
        at = receipt.until.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S")
        echo(
            "tokens of removed users, or workers of deleted sessions, may still live: run the same command again after "
            f"{at} UTC"
        )
