"""Commands on stored data, with an operator's AWS credentials. `acta backup` and `acta restore` take a tenant's data
out of a deployment and into one. `acta erase` removes everything of a tenant, or of one person in it, for good. `acta
quarantine` and `acta restored` put a table into use that AWS has restored to an earlier time.
"""

from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from acta.cli import exit_codes
from acta.cli.exit_codes import CliError
from acta.cli.operations.target import account_of, aws_errors, environment_of
from acta.cli.terminal.prompt import confirm
from acta.cli.terminal.text import cli_error, counted, echo, note, one_line, show
from acta.engine.aws.clients import Service
from acta.engine.aws.errors import NOT_FOUND, AwsRefused
from acta.infra.api.issuers import OwnPool
from acta.infra.deployed.account import Account
from acta.infra.deployed.operator_trail import trail_of
from acta.infra.deployed.quarantine import Quarantine
from acta.infra.deployed.tenants.backup import (
    LIST,
    BackupPlace,
    BackupUnusable,
    NothingThere,
    back_up,
    place_of,
)
from acta.infra.deployed.tenants.erase import TOKEN_LIFE, ErasureReceipt, erase_tenant, erase_user, eraser_of
from acta.infra.deployed.tenants.restore import Restored
from acta.infra.deployed.tenants.restore import restore as restore_backup
from acta.infra.deployed.tenants.restored_table import RestoreProgress, later_sessions, use_restored
from acta.infra.deployed.tenants.stores import TenantStores, stores_in

NOT_ALL = ("left as it is", "deleted lately", "no room", "name refused")
"""Outcomes that mean that something of the backup was left out."""
OUTCOMES = {
    "restored": "restored",
    "there already": "there already",
    "replaced": "replaced",
    "left as it is": "left as it is, because what is there differs",
    "deleted lately": "deleted within the last hour: run the same command again an hour after that",
    "no room": "left out, because the agent has as many memories as it may",
    "name refused": "left out, because no new file may have such a name (docs/design/files.md 1)",
}


def backup(arguments: Namespace) -> int:
    """Returns exit code 1 if a session, a tool or an MCP server could not be read. Raises CliError."""
    stores = _stores(arguments)
    place = _place(arguments, arguments.to, stores)
    with aws_errors():
        if place.has(LIST):
            raise CliError(f"{arguments.to} has a backup already: name another place")
        nothing = (
            f"nothing is stored of {one_line(arguments.tenant)}, so no backup was taken: is that its name?"
        )
        with (
            cli_error(OSError, words=f"{arguments.to}: {{}}"),
            cli_error(NothingThere, words=nothing),
            stores.trail.recorded("tenant.backup", arguments.tenant, to=arguments.to) as recorded,
        ):
            counts = back_up(stores, arguments.tenant, place, _complain)
            recorded |= {name: str(number) for name, number in counts.items()}
    told = ", ".join(counted(counts[f"{each}s"], each) for each in ("session", "definition", "file"))
    lines = [f"backed up {told} of {one_line(arguments.tenant)} to {one_line(arguments.to, 300)}"]
    if counts["unreadable"]:
        lines.append(f"not in it, because it cannot be read, is what is named above: {counts['unreadable']}")
    show(dict(counts), lines, as_json=arguments.json)
    return exit_codes.SESSION_FAILED if counts["unreadable"] else exit_codes.OK


def restore(arguments: Namespace) -> int:
    """Returns exit code 1 if something of the backup was left out. Raises CliError."""
    stores = _stores(arguments)
    place = _place(arguments, arguments.source, stores)
    with (
        aws_errors(),
        cli_error(OSError, words=f"{arguments.source}: {{}}"),
        cli_error(BackupUnusable, words=f"{arguments.source}: {{}}", cut=300),
        stores.trail.recorded("tenant.restore", arguments.tenant, source=arguments.source),
    ):
        done = restore_backup(stores, arguments.tenant, place, replace=arguments.replace)
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
            yield f"{kind}: {number} {OUTCOMES[outcome]}"
        if not outcomes:
            yield f"{kind}: none in the backup"
    for name, hosts in done.secrets.items():
        how = f"acta tools secrets set {one_line(name)} {one_line(' '.join(f'--host {host}' for host in hosts))}"
        yield f"no backup has secrets: an admin of {one_line(tenant)} runs {how}"
    if done.webhook:
        yield "no backup has secrets: an admin sets that of the webhook again with PUT /v1/notifications"


def _stores(arguments: Namespace) -> TenantStores:
    with aws_errors():
        return stores_in(account_of(arguments))


def _place(arguments: Namespace, where: str, stores: TenantStores) -> BackupPlace:
    def owner() -> str:
        sts = Service("sts", account_of(arguments).client("sts"))
        return arguments.bucket_owner or str(sts.call("get_caller_identity")["Account"])

    with cli_error(ValueError), aws_errors():
        return place_of(where, stores.s3, owner)


def _complain(what: str, why: str) -> None:
    note(f"acta: {one_line(what)} is not in the backup: {one_line(why, 300)}")


LOOKED_AT = ("sessions", "memories", "schedules", "users")


def erase(arguments: Namespace) -> int:
    """Returns exit code `WAITING` if the command has to be run again. Raises CliError."""
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
    show(told, erased_lines(receipt, tenant, user), as_json=arguments.json)
    return exit_codes.OK if receipt.until is None else exit_codes.WAITING


def erased_lines(receipt: ErasureReceipt, tenant: str, user: str | None) -> Iterator[str]:
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


COUNTED = {
    "copied": "items that are as they were: {}",
    "removed": "items of later that are gone: {}",
    "erased": "erased since, and now erased again: {}",
    "parked": "sessions that wait for a person, who is asked whether they shall go on: {}",
    "unreadable": "sessions that cannot be read: {}; look at them with acta doctor",
    "unnamed": "erasures that could not be repeated: {}; names of tenants are too long for a key (see the audit trail)",
    "texts": "texts that followed from what is forgotten, and are removed: {}",
}
NAME = 400
"""How many characters of a tenant's name or a session's id are shown."""
STILL_WORKS = (
    "what still works: signing in, commands with AWS credentials (acta logs, backup, restored, outputs), and the API's "
    "open routes (/healthz, /v1/openapi.json); all else of the API answers with a 5xx"
)
LIFTED = {
    True: "{} works again; people are asked about the sessions that were parked (acta interventions)",
    False: "{} was not quarantined: nothing was changed",
}


def quarantine(arguments: Namespace) -> int:
    """Returns exit code 1 if something is still at work. Raises CliError."""
    name = arguments.env or "local"
    with aws_errors():
        account = account_of(arguments)
        stop, trail = _quarantine(arguments, account), trail_of(account)
        if arguments.lift:
            with trail.recorded("deployment.lift"):
                was_quarantined = stop.lift()
            told: dict[str, Any] = {"works": True, "was_quarantined": was_quarantined}
            return show(told, [LIFTED[was_quarantined].format(one_line(name))], as_json=arguments.json)
        confirm(f"Stop all work in {one_line(name)}?", name, arguments.confirm)
        with trail.recorded("deployment.quarantine"):
            stopped = stop.begin()
        quiet = stop.nobody_writes_from()
    told = {
        "works": False,
        "holds": quiet is not None,
        "stopped": stopped,
        "nobody_writes_from": None if quiet is None else quiet.isoformat(),
    }
    lines = stopped_lines(name, stopped, quiet, f"acta quarantine {_where(arguments)}")
    show(told, lines, as_json=arguments.json)
    return exit_codes.SESSION_FAILED if quiet is None else exit_codes.OK


def stopped_lines(name: str, stopped: int, quiet: datetime | None, command: str) -> Iterator[str]:
    """`quiet`: the time from which on nobody writes; None: something can still be invoked or still runs."""
    if quiet is None:
        yield (
            f"{one_line(name)} does not stand still: AWS says that a function can still be invoked, or an execution "
            f"runs (stopped: {stopped}). Run {command.strip()} again; change nothing in the table before it holds"
        )
        return
    yield (
        f"{one_line(name)} stands still, and AWS says so: no function is invoked, no execution runs "
        f"(stopped: {stopped})"
    )
    yield STILL_WORKS
    yield f"a function that runs goes on to its end: change nothing in the table before {_at(quiet)}"
    yield f"to let it go on: {command}--lift"


def restored(arguments: Namespace) -> int:
    """Returns exit code 1 if a session could not be read or an erasure could not be repeated. Raises CliError."""
    name = arguments.env or "local"
    account = account_of(arguments)
    with aws_errors():
        check_still(
            _quarantine(arguments, account), datetime.now(UTC), f"acta quarantine {_where(arguments)}"
        )
        eraser = eraser_of(account)
        at = restored_to(eraser.stores.dynamodb, arguments.source, arguments.at)
        later = later_sessions(eraser.stores, arguments.source)
        if not arguments.json:
            for line in later_lines(later):
                echo(line)
        said = f"The table of {one_line(name)} becomes what it was at {at:%Y-%m-%d %H:%M:%S} UTC."
        confirm(f"{said} What came after is lost.", name, arguments.confirm)
        with eraser.stores.trail.recorded(
            "deployment.restored", source=arguments.source, at=at.isoformat()
        ) as recorded:
            done = use_restored(eraser, arguments.source, at)
            recorded |= {name: str(number) for name, number in done.counts.items()}
    lost = [*later, *(each for each in done.texts_alone if each not in later)]
    show({**done.counts, "lost": lost}, done_lines(done, arguments), as_json=arguments.json)
    return exit_codes.SESSION_FAILED if done.counts["unreadable"] or done.counts["unnamed"] else exit_codes.OK


def check_still(stop: Quarantine, now: datetime, command: str) -> None:
    """Raises CliError while a worker may still run: a late one would commit beyond the restored end of a log.
    `command`: the command that stops the environment.
    """
    quiet = stop.nobody_writes_from()
    if quiet is None:
        raise CliError(
            f"it is at work, or nothing keeps since when it is not: stop it with {command.strip()} first"
        )
    if now < quiet:
        raise CliError(
            f"a function that was at work when it was stopped may still write until {_at(quiet)}: run the same command "
            "again after that"
        )


def _at(time: datetime) -> str:
    return f"{time.astimezone(UTC):%H:%M:%S} UTC"


def later_lines(later: Sequence[str]) -> Iterator[str]:
    """The lost sessions, before anything is changed: after a run that is cut short, nothing may name them."""
    for session in later:
        yield f"{one_line(session, NAME)} began after that time, and is lost"
    yield (
        f"sessions that are lost: {len(later)}. Not among them, because nothing tells of them any more: those that an "
        "earlier run of this command has removed, unless S3 still has texts of theirs"
    )


def done_lines(done: RestoreProgress, arguments: Namespace) -> Iterator[str]:
    for kind, words in COUNTED.items():
        if done.counts.get(kind):
            yield words.format(done.counts[kind])
    for session in done.texts_alone:
        yield f"{one_line(session, NAME)}: its texts are still in S3, and nothing else of it"
    yield STILL_WORKS
    yield f"to let it go on: acta quarantine {_where(arguments)}--lift"


def _quarantine(arguments: Namespace, account: Account) -> Quarantine:
    lambdas, states = account.client("lambda"), account.client("stepfunctions")
    return Quarantine(environment_of(arguments), lambdas, states, stores_in(account))


def _where(arguments: Namespace) -> str:
    return f"--env {arguments.env} " if arguments.env else ""


def restored_to(dynamodb: Any, table: str, at: str | None) -> datetime:
    """The time to which AWS restored the table: `at` if it is given, else what AWS says. Raises CliError."""
    if at is not None:
        return datetime.fromisoformat(at).astimezone(UTC)
    try:
        described = Service("dynamodb", dynamodb).call("describe_table", TableName=table)["Table"]
    except AwsRefused as refused:
        if refused.code == NOT_FOUND:
            raise CliError(
                f"there is no table {one_line(table)} in this account and region: --from names the one that AWS "
                "restored (docs/operations.md, The data is damaged)"
            ) from None
        raise
    found = described.get("RestoreSummary", {}).get("RestoreDateTime")
    if not isinstance(found, datetime):
        raise CliError(f"AWS does not say to what time {one_line(table)} was restored: give it with --at")
    if described.get("TableStatus") != "ACTIVE":
        raise CliError(f"{one_line(table)} is not ready yet: AWS is still restoring it")
    return found.astimezone(UTC)
