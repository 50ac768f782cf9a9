"""`acta erase`: everything of a tenant, or of one person in it, is removed for good."""

from argparse import Namespace
from collections.abc import Iterator
from datetime import UTC, timedelta

from acta.cli import exit_codes
from acta.cli.aws_errors import aws_errors
from acta.cli.operations.target import account_of, environment_of
from acta.cli.terminal.prompt import confirm
from acta.cli.terminal.text import one_line, show
from acta_infra.deployed.tenants.erase import TOKEN_LIFE, Receipt, erase_tenant, erase_user, eraser_of
from acta_infra.issuers import OwnPool

LOOKED_AT = ("sessions", "memories", "users")


def erase(arguments: Namespace) -> int:
    """Exit code `WAITING` where it has to be run again. Raises CliError."""
    tenant, user = arguments.tenant, arguments.user
    with aws_errors():
        auth = environment_of(arguments).auth
        life = timedelta(minutes=auth.token_minutes) if isinstance(auth, OwnPool) else TOKEN_LIFE
        eraser = eraser_of(account_of(arguments), life)
        confirm(f"All of {one_line(user or tenant)} is erased for good.", user or tenant, arguments.confirm)
        receipt = erase_tenant(eraser, tenant) if user is None else erase_user(eraser, tenant, user)
    until = None if receipt.until is None else receipt.until.isoformat()
    told = {"removed": dict(receipt.removed), "again_after": until, "wrote_to": receipt.wrote_to}
    told = told if user is None else {**told, "looked_at": dict(receipt.looked_at)}
    show(told, lines_of(receipt, tenant, user), as_json=arguments.json)
    return exit_codes.OK if receipt.until is None else exit_codes.WAITING


def lines_of(receipt: Receipt, tenant: str, user: str | None) -> Iterator[str]:
    name = one_line(user or tenant)
    removed = ", ".join(f"{number} {kind}" for kind, number in receipt.removed.items() if number)
    yield f"erased of {name}: {removed or 'nothing was there'}"
    if user is not None:
        looked = ", ".join(f"{each} {receipt.looked_at.get(each, 0):,}" for each in LOOKED_AT)
        yield f"looked at in {one_line(tenant)}: {looked}"
        if not removed and receipt.until is None:
            yield "a person is named by the sub of their tokens, and not by their address: acta users list has both"
    for session_id in receipt.wrote_to:
        yield f"{one_line(session_id)} of somebody else has messages of theirs: acta erase leaves it"
    if receipt.until is not None:
        at = receipt.until.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S")
        yield (
            "tokens of removed users, or workers of deleted sessions, may still live: run the same command again after "
            f"{at} UTC"
        )
