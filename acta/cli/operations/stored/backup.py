"""`acta backup` and `acta restore`: a tenant's data, out of a deployment and into one."""

from argparse import Namespace
from collections.abc import Iterator, Mapping

from acta.cli import exit_codes
from acta.cli.aws_errors import aws_errors
from acta.cli.exit_codes import CliError
from acta.cli.operations.target import account_of
from acta.cli.terminal.session_lines import counted
from acta.cli.terminal.text import cli_error, note, one_line, show
from acta_infra.deployed.tenants.backup import LIST, BackupUnusable, NothingThere, Place, back_up, place_of
from acta_infra.deployed.tenants.restore import Restored
from acta_infra.deployed.tenants.restore import restore as restore_backup
from acta_infra.deployed.tenants.stores import TenantStores, stores_in

NOT_ALL = ("left as it is", "deleted lately", "no room")
"""Outcomes that leave something of the backup out."""
WORDS = {
    "restored": "restored",
    "there already": "there already",
    "replaced": "replaced",
    "left as it is": "left as it is, because what is there differs",
    "deleted lately": "deleted within the last hour: run the same command again an hour after that",
    "no room": "left out, because the agent has as many memories as it may",
}


def backup(arguments: Namespace) -> int:
    """Exit code 1 where a session could not be read. Raises CliError."""
    stores = _stores(arguments)
    place = _place(arguments.to, stores)
    with aws_errors():
        if place.has(LIST):
            raise CliError(f"{arguments.to} has a backup already: name another place")
        try:
            counts = back_up(stores, arguments.tenant, place, _complain)
        except NothingThere:
            raise CliError(
                f"nothing is stored of {one_line(arguments.tenant)}, so no backup was taken: is that its name?"
            ) from None
        except OSError as error:
            raise CliError(f"{arguments.to}: {error.strerror or error}") from None
    told = ", ".join(counted(counts[f"{each}s"], each) for each in ("session", "definition", "file"))
    lines = [f"backed up {told} of {one_line(arguments.tenant)} to {one_line(arguments.to, 300)}"]
    if counts["unreadable"]:
        unread = counted(counts["unreadable"], "session")
        lines.append(f"not in it, because they cannot be read: {unread}, named above")
    show(dict(counts), lines, as_json=arguments.json)
    return exit_codes.SESSION_FAILED if counts["unreadable"] else exit_codes.OK


def restore(arguments: Namespace) -> int:
    """Exit code 1 where something of the backup was left out. Raises CliError."""
    stores = _stores(arguments)
    place = _place(arguments.source, stores)
    with aws_errors():
        try:
            done = restore_backup(stores, arguments.tenant, place, replace=arguments.replace)
        except BackupUnusable as error:
            raise CliError(f"{arguments.source}: {one_line(str(error), 300)}") from None
        except OSError as error:
            raise CliError(f"{arguments.source}: {error.strerror or error}") from None
    outcomes_of: Mapping[str, Mapping[str, int]] = {
        "sessions": done.sessions,
        "definitions": done.definitions,
        "files": done.files,
    }
    told = {kind: dict(outcomes) for kind, outcomes in outcomes_of.items()}
    told_all = {**told, "secrets_to_set": done.secrets, "webhook": done.webhook}
    show(told_all, _lines(outcomes_of, done, arguments.tenant), as_json=arguments.json)
    left_out = any(outcomes[each] for outcomes in outcomes_of.values() for each in NOT_ALL)
    return exit_codes.SESSION_FAILED if left_out else exit_codes.OK


def _lines(counted: Mapping[str, Mapping[str, int]], done: Restored, tenant: str) -> Iterator[str]:
    for kind, outcomes in counted.items():
        for outcome, number in outcomes.items():
            yield f"{kind}: {number} {WORDS[outcome]}"
        if not outcomes:
            yield f"{kind}: none in the backup"
    for name in done.secrets:
        yield f"no backup has secrets: an admin of {one_line(tenant)} runs acta tools secrets set {one_line(name)}"
    if done.webhook:
        yield "no backup has secrets: an admin sets that of the webhook again with PUT /v1/notifications"


def _stores(arguments: Namespace) -> TenantStores:
    with aws_errors():
        return stores_in(account_of(arguments))


def _place(where: str, stores: TenantStores) -> Place:
    with cli_error(ValueError):
        return place_of(where, stores.s3)


def _complain(session_id: str, why: str) -> None:
    note(f"acta: {one_line(session_id)} is not in the backup: {one_line(why, 300)}")
