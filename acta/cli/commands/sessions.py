"""Commands about sessions, and those that decide what people are asked."""

import click

from acta.cli.commands.grammar import Command, Given, api_command, argument, flag, joined, option, words

EXIT_CODES = (
    "Exit codes: 0 goal met, 1 failed, 2 wrong use or refused, 3 goal not met, 4 cancelled, "
    "5 waits for a person (--no-wait), 130 interrupted."
)
SESSION = "sessions.run"
LISTED = "sessions.listings"
DECIDED = "interventions.commands"

NO_WAIT = flag("--no-wait", help="when a person is needed, print how to decide and end with exit code 5")
COMMENT = option("--comment", metavar="TEXT", help="why; of a rejection the agent reads it")


STARTED = (
    option("--agent", metavar="ID", help="who works on it (default: the deployment's own agent)"),
    option("--max-steps", type=int, metavar="N", help="turns after which it ends (default: the agent's)"),
    option(
        "--token-budget",
        type=int,
        metavar="N",
        help="tokens until it waits or asks (default: the agent's, else the deployment's)",
    ),
    option("--cost-budget", type=float, metavar="USD", help="US dollars of the whole session"),
    option(
        "--prompt",
        "prompts",
        multiple=True,
        metavar="NAME=VERSION",
        help="a version of a prompt to try instead of the one in force (role admin)",
    ),
    flag("--private", help="nobody else in the tenant sees the session"),
    option(
        "--set",
        "fields",
        multiple=True,
        metavar="NAME=VALUE",
        help="any other field of the session, as the API names it; the value is JSON, or else a text",
    ),
    flag("--detach", help="print the session's id and do not follow it"),
)
"""Of a session that is made: who works on it and within which limits."""


def session_id() -> click.Argument:
    return argument("id", "SESSION")


def either_id() -> click.Argument:
    """A session's id or an intervention's."""
    return argument("id", "SESSION|INTERVENTION")


def intervention_then_option(given: Given) -> Given:
    """`resolve SESSION [INTERVENTION] OPTION`. Raises UsageError."""
    named = [*(given.pop("words") or ())]
    if not 1 <= len(named) <= 2:
        raise click.UsageError("an option is needed, and before it an intervention where several are open")
    return {**given, "intervention": named[0] if len(named) == 2 else None, "option": named[-1]}


STATES = (
    "idle",
    "planning",
    "executing",
    "waiting_for_tool",
    "waiting_for_user",
    "completed",
    "failed",
    "cancelled",
)
"""The API's. The command line loads none of its modules; a test compares."""


def state_is_a_directory(given: Given) -> Given:
    """Raises UsageError where a session's state was given in its place."""
    if given.get("state") in STATES:
        raise click.UsageError(f"--state is the local stack's directory: say --state-is {given['state']}")
    return given


def decision(name: str, help: str, *parameters: click.Parameter) -> Command:
    """A command that is one option of an intervention."""
    return api_command(
        name,
        f"{DECIDED}:decide",
        help,
        either_id(),
        argument("intervention", required=False),
        COMMENT,
        *parameters,
        option=name,
    )


def control(name: str, help: str) -> Command:
    return api_command(name, f"{SESSION}:control", help, session_id(), action=name)


COMMANDS = (
    api_command(
        "run",
        f"{SESSION}:run",
        "Give an agent a goal and follow it. The goal need not be quoted.",
        words("goal", "GOAL..."),
        *STARTED,
        option(
            "--review-every",
            type=int,
            metavar="N",
            help="ask before every Nth turn; 1: before each turn (single-stepping)",
        ),
        option("--files", metavar="DIR", help="put this directory's files into the storage first"),
        NO_WAIT,
        prepare=joined("goal"),
        epilog=EXIT_CODES,
    ),
    api_command(
        "watch", f"{SESSION}:watch", "Follow a session to its end.", session_id(), NO_WAIT, epilog=EXIT_CODES
    ),
    api_command(
        "say",
        f"{SESSION}:say",
        "Tell a session something. One that has ended begins its next run with it.",
        session_id(),
        words("text", "TEXT..."),
        prepare=joined("text"),
    ),
    api_command(
        "fork",
        f"{SESSION}:fork",
        "Have a new session go on from a turn, with a copy of the conversation. Files are as they are now.",
        session_id(),
        argument("text", "[TEXT...]", nargs=-1),
        option(
            "--at",
            type=int,
            metavar="SEQ",
            help="from the end of the turn of this event, such as `acta watch` numbers them (default: the newest "
            "turn that has ended)",
        ),
        *STARTED,
        NO_WAIT,
        prepare=joined("text"),
        epilog=EXIT_CODES,
    ),
    api_command(
        "sessions",
        f"{LISTED}:sessions",
        "List sessions, newest first.",
        option("--limit", type=int, default=20, metavar="N", help="so many at most (default: 20)"),
        option("--state-is", metavar="STATE", help="only sessions in this state, such as completed"),
        option("--agent", metavar="ID", help="only sessions of this agent"),
        option("--goal", metavar="WORDS", help="only sessions whose goal has these words at its beginning"),
        option("--user", metavar="SUB", help="only sessions that this person started"),
        option(
            "--goal-met",
            type=click.Choice(["yes", "no"]),
            help="only completed sessions that met their goal, or that did not",
        ),
        prepare=state_is_a_directory,
    ),
    api_command(
        "plan",
        "sessions.plan:plan",
        "Show a session's plan, or edit its steps that are still to be done.",
        session_id(),
        option("--add", multiple=True, metavar="TEXT", help="a step at the end; more than once for more"),
        option(
            "--change",
            multiple=True,
            type=(int, str),
            metavar="N TEXT",
            help="step N is this instead; more than once for more",
        ),
        option(
            "--skip", multiple=True, type=int, metavar="N", help="leave step N out; more than once for more"
        ),
        option(
            "--move",
            multiple=True,
            type=(int, int),
            metavar="N M",
            help="step N comes before step M; more than once for more",
        ),
        option("--from", "source", metavar="FILE", help="operations as JSON, - for standard input"),
        option("--comment", metavar="TEXT", help="why; the agent reads it"),
        epilog="Running and finished steps stay as they are. All changes are made or none, and the agent is told. With "
        "--from: a list as in the body of PATCH /v1/sessions/{id}/plan, also of tools, inputs and permissions.",
    ),
    api_command(
        "limits",
        "sessions.listings:limits",
        "Show a session's limits, or change them while it runs or before its next run.",
        session_id(),
        option("--max-steps", type=int, metavar="N", help="turns of a run"),
        option("--token-budget", type=int, metavar="N", help="the whole budget, in tokens"),
        option("--cost-budget", type=float, metavar="USD", help="the whole budget, in US dollars"),
        option("--review-every", type=int, metavar="N", help="ask before every Nth turn; 0: never"),
        epilog="Where a question about the budget is open, `acta raise` answers it.",
    ),
    api_command("trace", f"{LISTED}:trace", "Show what a session thought and did.", session_id()),
    api_command(
        "receipt",
        "sessions.listings:receipt",
        "Show what a session has cost, in counts and in US dollars.",
        session_id(),
    ),
    control("pause", "Pause a session."),
    control("resume", "Continue a paused session, or have one that waits for its next try do it now."),
    control("cancel", "Cancel a session."),
    api_command("interventions", f"{DECIDED}:interventions", "List what waits for a person."),
    decision("approve", "Approve what a session asks permission for."),
    decision("reject", "Reject what a session asks permission for."),
    decision(
        "raise",
        "Give a session that used up its budget a higher one.",
        option("--token-budget", type=int, metavar="N", help="the whole budget, in tokens"),
        option(
            "--cost-budget",
            "--cost-budget-usd",
            "cost_budget_usd",
            type=float,
            metavar="USD",
            help="the whole budget, in US dollars",
        ),
    ),
    decision("finish", "Let a session that used up its budget end with what it has."),
    api_command(
        "resolve",
        f"{DECIDED}:decide",
        "Decide whatever a session waits for. Options are such as retry, record, skip, raise, finish, continue, "
        "cancel.",
        either_id(),
        words("words", "[INTERVENTION] OPTION"),
        option("--input", metavar="JSON", help="what the option needs, a JSON object"),
        COMMENT,
        prepare=intervention_then_option,
    ),
    api_command(
        "answer",
        f"{DECIDED}:answer",
        "Answer a session's question.",
        either_id(),
        words("text", "TEXT..."),
        prepare=joined("text"),
    ),
)
