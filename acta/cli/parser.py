"""The subcommands of `acta`, their options and their help."""

import argparse
import sys
from datetime import datetime
from typing import NoReturn

from acta.cli import exit_codes

EXIT_CODES = (
    "Exit codes: 0 goal met, 1 failed, 2 wrong use or refused, 3 goal not met, 4 cancelled, "
    "5 waits for a person (--no-wait), 130 interrupted."
)

MAX_DIGITS = 9

EITHER_ID = "the session's id, or the intervention's alone"


class Parser(argparse.ArgumentParser):
    """Prints one line about wrong use, not the whole usage."""

    def error(self, message: str) -> NoReturn:
        print(f"{self.prog}: {message} (see {self.prog} --help)", file=sys.stderr)
        sys.exit(exit_codes.WRONG_USE)


def build_parser() -> argparse.ArgumentParser:
    parser = Parser(prog="acta", description="Runs autonomous LLM agents on your own AWS account.")
    commands = parser.add_subparsers(metavar="COMMAND", required=True, parser_class=Parser)
    add_local(commands)
    add_sessions(commands)
    add_control(commands)
    add_files(commands)
    add_tools(commands)
    add_operations(commands)
    return parser


Commands = argparse._SubParsersAction


def add(commands: "Commands[Parser]", name: str, command: str, help: str) -> Parser:
    """`command`: the module below `acta.cli` and its function that runs it."""
    parser = commands.add_parser(name, help=help, description=help)
    parser.set_defaults(command=f"acta.cli.{command}")
    return parser


def add_connection(parser: Parser) -> Parser:
    """The options that name a deployment."""
    parser.add_argument(
        "--api-url", help="the deployment's URL (default: ACTA_API_URL, else the local stack)"
    )
    parser.add_argument("--token", help="a token for it (default: ACTA_TOKEN)")
    parser.add_argument(
        "--insecure",
        action="store_true",
        help="send the token over http to another machine, readable on the way",
    )
    parser.add_argument("--state", help="the local stack's state directory (default: .acta)")
    return parser


def add_local(commands: "Commands[Parser]") -> None:
    up = add(commands, "up", "local.up:up", "Serve the local stack until Ctrl-C.")
    up.add_argument("--port", type=port, help="port of the API on 127.0.0.1 (default: a free one)")
    up.add_argument("--state", help="where its data lives (default: .acta)")
    up.add_argument("--json", action="store_true", help="print one line of JSON when ready, for scripts")
    token = add(commands, "token", "local_token:token", "Print a token for the local stack.")
    token.add_argument("--tenant", required=True)
    token.add_argument("--user", required=True)
    token.add_argument(
        "--role",
        action="append",
        help="such as admin, approver or one that an agent names; may be repeated (default: member)",
    )
    token.add_argument("--ttl", type=seconds, default=43_200, metavar="SECONDS", help="default: 12 hours")
    token.add_argument("--state", help="the local stack's state directory (default: .acta)")
    add(
        commands,
        "demo",
        "local.demo:demo",
        "Start a local stack, run a real goal on it and keep the files.",
    )


def add_sessions(commands: "Commands[Parser]") -> None:
    run = add_connection(add(commands, "run", "sessions.run:run", "Give an agent a goal and follow it."))
    run.add_argument("goal")
    run.add_argument("--max-steps", type=int)
    run.add_argument("--token-budget", type=int)
    run.add_argument(
        "--review-every",
        type=int,
        metavar="N",
        help="ask before every Nth turn; 1: before each turn (single-stepping)",
    )
    run.add_argument("--private", action="store_true", help="nobody else in the tenant sees the session")
    run.add_argument("--detach", action="store_true", help="print the session's id and do not follow it")
    run.add_argument("--json", action="store_true", help="print the session as one line of JSON")
    watch = add_connection(add(commands, "watch", "sessions.run:watch", "Follow a session to its end."))
    watch.add_argument("id")
    for followed in (run, watch):
        followed.add_argument(
            "--no-wait",
            action="store_true",
            help="when a person is needed, print how to decide and end with exit code 5",
        )
        followed.epilog = EXIT_CODES
    sessions = add_connection(
        add(commands, "sessions", "sessions.listings:sessions", "List sessions, newest first.")
    )
    sessions.add_argument("--limit", type=int, default=20)
    sessions.add_argument("--state-is", metavar="STATE", help="only sessions in this state")
    sessions.add_argument("--json", action="store_true")
    waiting = add_connection(
        add(
            commands, "interventions", "interventions.commands:interventions", "List what waits for a person."
        )
    )
    waiting.add_argument("--json", action="store_true")
    for name, help in (("plan", "Show a session's plan."), ("trace", "Show what a session thought and did.")):
        shown = add_connection(add(commands, name, f"sessions.listings:{name}", help))
        shown.add_argument("id")
        shown.add_argument("--json", action="store_true")
    help = "Show what a session has cost, in counts and in US dollars."
    cost = add_connection(add(commands, "receipt", "sessions.receipt:receipt", help))
    cost.add_argument("id")
    cost.add_argument("--json", action="store_true")


def add_control(commands: "Commands[Parser]") -> None:
    for name, help in (
        ("pause", "Pause a session."),
        ("resume", "Continue a paused session, or have one that waits for its next try do it now."),
        ("cancel", "Cancel a session."),
    ):
        controlled = add_connection(add(commands, name, "sessions.run:control", help))
        controlled.add_argument("id")
        controlled.set_defaults(action=name)
    decision(commands, "approve", "Approve what a session asks permission for.")
    decision(commands, "reject", "Reject what a session asks permission for.")
    raised = decision(commands, "raise", "Give a session that used up its budget a higher one.")
    raised.add_argument("--token-budget", type=int, metavar="N", help="the whole budget, in tokens")
    raised.add_argument("--cost-budget-usd", type=float, metavar="N", help="the whole budget, in US dollars")
    decision(commands, "finish", "Let a session that used up its budget end with what it has.")
    resolve = add_connection(
        add(commands, "resolve", "interventions.commands:decide", "Decide whatever a session waits for.")
    )
    resolve.add_argument("id", help=EITHER_ID)
    resolve.add_argument("intervention", nargs="?", help="needed when several are open")
    resolve.add_argument("option", help="such as retry, record, skip, raise, finish, continue, cancel")
    resolve.add_argument("--input", metavar="JSON", help="what the option needs, a JSON object")
    resolve.add_argument("--comment")
    answer = add_connection(
        add(commands, "answer", "interventions.commands:answer", "Answer a session's question.")
    )
    answer.add_argument("id", help=EITHER_ID)
    answer.add_argument("text")


def decision(commands: "Commands[Parser]", option: str, help: str) -> Parser:
    """A command that is one option of an intervention."""
    decided = add_connection(add(commands, option, "interventions.commands:decide", help))
    decided.add_argument("id", help=EITHER_ID)
    decided.add_argument("intervention", nargs="?", help="needed when several are open")
    decided.add_argument("--comment")
    decided.set_defaults(option=option)
    return decided


def add_files(commands: "Commands[Parser]") -> None:
    files = commands.add_parser("files", help="The tenant's storage.", description="The tenant's storage.")
    verbs = files.add_subparsers(metavar="VERB", required=True, parser_class=Parser)
    add_connection(add(verbs, "ls", "files:list_files", "List the files.")).add_argument(
        "prefix", nargs="?", help="those whose path begins so; '~/': your private files"
    )
    get = add_connection(add(verbs, "get", "files:get", "Download a file."))
    get.add_argument("path")
    get.add_argument("-o", "--output", help="where to write it (default: standard output)")
    put = add_connection(add(verbs, "put", "files:put", "Upload a file."))
    put.add_argument("source", help="the local file, - for standard input")
    put.add_argument("path", nargs="?", help="its path in the storage (default: its name)")
    add_connection(add(verbs, "rm", "files:remove", "Delete a file.")).add_argument("path")
    versions = add_connection(
        add(verbs, "versions", "files:versions", "List what a file was, newest first, also of a deleted one.")
    )
    versions.add_argument("path")
    restore = add_connection(
        add(verbs, "restore", "files:restore", "Write an earlier version of a file again.")
    )
    restore.add_argument("path")
    restore.add_argument("version", help="its id, as `acta files versions PATH` shows it")


def add_tools(commands: "Commands[Parser]") -> None:
    tools = commands.add_parser("tools", help="The tenant's tools.", description="The tenant's tools.")
    things = tools.add_subparsers(metavar="THING", required=True, parser_class=Parser)
    help = "Secrets that headers of tools refer to (role admin)."
    secrets = things.add_parser("secrets", help=help, description=help)
    verbs = secrets.add_subparsers(metavar="VERB", required=True, parser_class=Parser)
    set_ = add_connection(
        add(
            verbs,
            "set",
            "tool_secrets:set_secret",
            "Set a secret. Its value is read from standard input, or asked for and not shown.",
        )
    )
    set_.add_argument("name", metavar="NAME")
    set_.add_argument(
        "--host",
        action="append",
        metavar="HOST",
        help="tools may send it there alone; more than once for more (default: the hosts that it has, else any)",
    )
    add_connection(add(verbs, "list", "tool_secrets:list_secrets", "List the secrets, without their values."))
    remove = add_connection(add(verbs, "rm", "tool_secrets:remove_secret", "Delete a secret for good."))
    remove.add_argument("name", metavar="NAME")


def add_operations(commands: "Commands[Parser]") -> None:
    deploy = add(commands, "deploy", "operations.deploy:deploy", "Deploy into your AWS account with the CDK.")
    deploy.add_argument("--env", required=True, choices=("dev", "staging", "prod"))
    deploy.add_argument("--yes", action="store_true", help="do not ask before security-sensitive changes")
    models = add_connection(
        add(commands, "models", "operations.models:models", "List the models, their prices and their keys.")
    )
    models.add_argument("--check", action="store_true", help="ask the providers whether they take the keys")
    models.add_argument("--json", action="store_true")
    audit = add_connection(
        add(commands, "audit", "operations.audit:audit", "Show who did what, newest first (role admin).")
    )
    audit.add_argument(
        "--since", type=instant, metavar="TIME", help="from this time on, such as 2026-11-22T09:00:00Z"
    )
    audit.add_argument("--until", type=instant, metavar="TIME", help="before this time")
    audit.add_argument("--action", help="such as session.delete, intervention.resolve or file.write")
    audit.add_argument("--user", metavar="SUB", help="of this person, as the identity provider names them")
    audit.add_argument("--session", metavar="ID", help="on this session, deleted or not")
    audit.add_argument("--limit", type=int, default=50, help="so many records at most (default: 50)")
    audit.add_argument("--json", action="store_true", help="print each record as one line of JSON")
    doctor = add(
        commands, "doctor", "operations.doctor:doctor", "Check what this machine has and what is missing."
    )
    doctor.add_argument("--state", help="the local stack's state directory (default: .acta)")
    doctor.add_argument("--repair", action="store_true", help="continue sessions that stand still")
    doctor.add_argument("--env", choices=("dev", "staging", "prod"), help="in AWS (default: the local stack)")
    doctor.add_argument(
        "--failed-since",
        metavar="2h",
        help="list the runs that failed since then and can be tried again (m, h, d), and ask whether to do so",
    )
    doctor.add_argument(
        "--yes", action="store_true", help="with --failed-since: have them tried again unasked"
    )
    doctor.add_argument("--session", metavar="ID", help="repair this session, even if it has failed")
    doctor.add_argument("--tenant", metavar="T", help="whose session it is (the local stack's default: demo)")
    doctor.epilog = (
        "Exit codes: 0 all is well, 1 something is missing or could not be done, 2 wrong use or refused, "
        "5 failed sessions were listed and not repaired."
    )


def seconds(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= MAX_DIGITS and int(text) > 0):
        raise argparse.ArgumentTypeError(f"seconds are a whole number from 1 on, not {text!r}")
    return int(text)


def instant(text: str) -> str:
    """The text itself, which the API reads as RFC 3339."""
    try:
        has_zone = datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        has_zone = False
    if not has_zone:
        raise argparse.ArgumentTypeError(f"a time is given such as 2026-11-22T09:00:00Z, not {text!r}")
    return text


def port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= 65_535):
        raise argparse.ArgumentTypeError(f"a port is a number from 1 to 65535, not {text!r}")
    return int(text)
