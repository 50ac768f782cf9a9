"""Commands about a stack or a deployment: start, install, look into, repair."""

from collections.abc import Sequence

import click

from acta.cli.commands.grammar import (
    JSON,
    STATE,
    Command,
    Group,
    Instant,
    api_command,
    argument,
    flag,
    option,
)

ENVIRONMENT = option(
    "--env", required=True, metavar="NAME", help="one of infra/acta_infra/environments.py, such as dev"
)
TWELVE_HOURS = 43_200
MOST_SECONDS = 999_999_999

TENANT: Sequence[click.Parameter] = (
    option("--env", metavar="NAME", help="in AWS (default: the local stack)"),
    option("--tenant", required=True, metavar="T", help="whose data"),
    STATE,
)

LOCAL = (
    Command(
        "up",
        "local.up:up",
        "Serve the local stack until Ctrl-C.",
        option(
            "--port",
            type=click.IntRange(1, 65_535),
            metavar="PORT",
            help="of the API on 127.0.0.1 (default: that of last time, else 2282, else a free one)",
        ),
        option("--state", metavar="DIR", help="where its data lives (default: .acta)"),
        flag("--samples", help="put a few files into the storage, to try a goal on"),
        flag("--open", help="open the page in your browser when ready"),
        flag("--json", help="print one line of JSON when ready, for scripts"),
    ),
    Command(
        "token",
        "local_stack:token",
        "Print a token for the local stack.",
        option("--tenant", required=True),
        option("--user", required=True),
        option(
            "--role",
            multiple=True,
            help="such as admin, approver or one that an agent names; may be repeated (default: member)",
        ),
        option(
            "--ttl",
            type=click.IntRange(1, MOST_SECONDS),
            default=TWELVE_HOURS,
            metavar="SECONDS",
            help="default: 12 hours",
        ),
        STATE,
    ),
    Group(
        "new",
        "Make a folder to begin with.",
        Command(
            "tool",
            "local.new_tool:new_tool",
            "Make tools/NAME: a tool in Python, its tests and its settings, which work as they are.",
            argument("name"),
            option("--dir", metavar="DIR", help="where the folders of tools are (default: tools)"),
            JSON,
        ),
    ),
    Command("demo", "local.demo:demo", "Start a local stack, run a real goal on it and keep the files."),
)
OPERATIONS = (
    Command(
        "deploy",
        "operations.deployed.deploy:deploy",
        "Deploy into your AWS account with the CDK: says what will change, and asks.",
        ENVIRONMENT,
        flag("--yes", help="do not ask, for CI"),
        option(
            "--policies", metavar="DIR", help="deploy nothing: write the IAM policies that deploying needs"
        ),
        epilog="Exit codes: 0 it is deployed, 1 cdk failed or the answer was no, 2 wrong use or refused.",
    ),
    Command(
        "diff",
        "operations.deployed.deploy:diff",
        "Show what a deployment would change.",
        ENVIRONMENT,
        flag("--exit-code", help="exit with 1 where something would change"),
        JSON,
    ),
    Command(
        "outputs",
        "operations.deployed.outputs:outputs",
        "Show where a deployed environment's API, issuer and other things are.",
        ENVIRONMENT,
        JSON,
    ),
    Command(
        "releases",
        "operations.releases:releases",
        "List the releases that a deployment can go back to, newest first.",
        option("--env", metavar="NAME", help="in AWS (default: the local stack)"),
        JSON,
        STATE,
    ),
    Command(
        "rollback",
        "operations.releases:rollback",
        "Go back to a release whose functions are still there.",
        option("--env", metavar="NAME", help="in AWS (default: the local stack)"),
        option("--to", metavar="RELEASE", help="as `acta releases` names it (default: the one before)"),
        flag("--yes", help="do not ask"),
        JSON,
        STATE,
    ),
    Command(
        "destroy",
        "operations.deployed.deploy:destroy",
        "Delete a deployed environment: says what goes and what stays, and has its name typed.",
        ENVIRONMENT,
        option("--yes", metavar="NAME", help="the environment's name again, for scripts: do not ask"),
        epilog="Exit codes: 0 it is gone, 1 something is left or the name was not typed, 2 wrong use or refused.",
    ),
    Command(
        "costs",
        "operations.deployed.costs:show_costs",
        "Estimate what sessions will cost a month, by part (docs/costs.md).",
        option("--sessions", type=click.IntRange(0), required=True, metavar="N", help="a month"),
        option("--turns", type=click.IntRange(1, 1_000), required=True, metavar="M", help="of a session"),
        option("--model", default="claude-sonnet-5-5", help="default: claude-sonnet-5-5"),
        option(
            "--model-seconds",
            type=click.FloatRange(0, 3_600),
            default=5.0,
            metavar="S",
            help="that a turn waits for the model (default: 5)",
        ),
        option(
            "--env", metavar="NAME", help="with what this environment costs at rest, its sizes and its prices"
        ),
        JSON,
    ),
    api_command(
        "models",
        "operations.models:models",
        "List the models, their prices and their keys.",
        flag("--check", help="ask the providers whether they take the keys"),
    ),
    api_command(
        "usage",
        "operations.usage:usage",
        "Show what the tenant has used: an admin all of it, everybody else their own.",
        option(
            "--by",
            type=click.Choice(("hour", "day", "agent", "model", "user")),
            default="day",
            help="what a row is about (default: day)",
        ),
        option("--since", type=Instant(), metavar="TIME", help="from this time on (default: seven days ago)"),
        option("--until", type=Instant(), metavar="TIME", help="before this time"),
    ),
    api_command(
        "audit",
        "operations.usage:audit",
        "Show who did what, newest first (role admin).",
        option(
            "--since", type=Instant(), metavar="TIME", help="from this time on, such as 2026-11-22T09:00:00Z"
        ),
        option("--until", type=Instant(), metavar="TIME", help="before this time"),
        option("--action", help="such as session.delete, intervention.resolve or file.write"),
        option("--user", metavar="SUB", help="of this person, as the identity provider names them"),
        option("--session", metavar="ID", help="on this session, deleted or not"),
        option("--limit", type=int, default=50, metavar="N", help="so many records at most (default: 50)"),
        flag("--json", help="print each record as one line of JSON"),
        json=False,
    ),
    Command(
        "doctor",
        "operations.doctor:doctor",
        "Check what this machine has and what is missing.",
        STATE,
        flag("--repair", help="continue sessions that stand still"),
        option("--env", metavar="NAME", help="in AWS (default: the local stack)"),
        option(
            "--failed-since",
            metavar="2h",
            help="list the runs that failed since then and can be tried again (m, h, d), and ask whether to do so",
        ),
        flag("--yes", help="with --failed-since: have them tried again unasked"),
        option("--session", metavar="ID", help="repair this session, even if it has failed"),
        option("--tenant", metavar="T", help="whose session it is (the local stack's default: demo)"),
        epilog="Exit codes: 0 all is well, 1 something is missing or could not be done, 2 wrong use or refused, "
        "5 failed sessions were listed and not repaired.",
    ),
    Command(
        "backup",
        "operations.stored.backup:backup",
        "Back up a tenant with your AWS credentials: definitions, sessions, files.",
        *TENANT,
        option("--to", required=True, metavar="PLACE", help="a new directory, or s3://bucket/prefix"),
        JSON,
        epilog="No backup has secrets, tokens, approvals or work under way. Exit codes: 0 all is in it, 1 some "
        "sessions cannot be read and are not in it, 2 wrong use or refused.",
    ),
    Command(
        "restore",
        "operations.stored.backup:restore",
        "Restore a backup into a tenant. Sessions come back ended.",
        *TENANT,
        option("--from", "source", required=True, metavar="PLACE", help="a directory, or s3://bucket/prefix"),
        flag(
            "--replace", help="replace definitions and files that are there and differ (sessions never are)"
        ),
        JSON,
        epilog="May be repeated: what is there already is left. Exit codes: 0 all is there, 1 something that is there "
        "and differs was left as it is, or was deleted within the hour, 2 wrong use or refused.",
    ),
    api_command(
        "logs",
        "operations.logs:logs",
        "Tell what the functions logged about a session, oldest first. With --env: needs AWS credentials, and no token "
        "where the session is named by its whole id.",
        argument("id", "SESSION"),
        option("--since", metavar="2h", help="only what is as new as that (m, h, d; default: all of it)"),
        flag("--follow", help="go on with what comes, until Ctrl-C"),
        flag("--all", help="also each reading of the session that went well"),
        flag("--json", help="print each line as one line of JSON"),
        json=False,
    ),
    Command(
        "erase",
        "operations.stored.erase:erase",
        "Erase a tenant, or one person in it, with your AWS credentials.",
        *TENANT,
        option(
            "--user", metavar="SUB", help="only what is this person's, as the identity provider names them"
        ),
        option(
            "--confirm",
            metavar="NAME",
            help="for scripts: the name of the tenant, or of the person, once more",
        ),
        JSON,
        epilog="Exit codes: 0 nothing is left, 2 wrong use or refused, 5 something may come back: run it again after "
        "the time that is told.",
    ),
    Command(
        "quarantine",
        "operations.stored.restored:quarantine",
        "Stop all work in an environment, before its table is restored to an earlier time, and let it go on.",
        TENANT[0],
        STATE,
        flag("--lift", help="let it work again"),
        option("--confirm", metavar="NAME", help="for scripts: the environment's name once more"),
        JSON,
        epilog="Exit codes: 0 it holds, or was lifted, 1 AWS does not say that it holds, 2 wrong use or refused.",
    ),
    Command(
        "restored",
        "operations.stored.restored:restored",
        "Take a table into use that AWS restored to an earlier time: park sessions, repeat erasures.",
        TENANT[0],
        STATE,
        option("--from", "source", required=True, metavar="TABLE", help="the name of the restored table"),
        option("--at", type=Instant(), metavar="TIME", help="what it was restored to (default: as AWS says)"),
        option("--confirm", metavar="NAME", help="for scripts: the environment's name once more"),
        JSON,
        epilog="May be repeated. Exit codes: 0 all is done, 1 something could not be read or erased again, 2 wrong use "
        "or refused.",
    ),
    Command(
        "completion",
        "completion:completion",
        "Print what makes a shell complete the words of `acta`.",
        argument("shell", type=click.Choice(("bash", "zsh", "fish"))),
        epilog='In bash or zsh: eval "$(acta completion bash)". In fish: acta completion fish | source.',
    ),
)
