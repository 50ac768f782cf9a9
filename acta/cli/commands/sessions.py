"""Commands about sessions, and those that decide the questions that people are asked."""

import click

from acta.cli.commands.grammar import Command, Given, api_command, argument, option, text_argument

EXIT_CODES = (
    "Exit codes: 0 goal met, 1 failed, 2 wrong use or refused, 3 goal not met, 4 cancelled, "
    "5 waits for a person or for tokens (--no-wait), 130 interrupted."
)
RUN = "sessions.run"
LISTED = "sessions.listings"
DECIDED = "sessions.interventions"

NO_WAIT = option(
    "--no-wait",
    "when a person or a higher budget is needed, print the commands for that and end with exit code 5",
)
COMMENT = option("--comment TEXT", "why; the agent reads it if you reject")
WHOLE_TOKENS = option("--token-budget N", "the whole budget, in tokens")

STARTED = (
    option("--agent ID", "who works on it (default: the deployment's own agent)"),
    option("--max-steps N", "turns after which it ends (default: the agent's)"),
    option("--token-budget N", "tokens until it waits or asks (default: the agent's, else the deployment's)"),
    option("--cost-budget USD", "US dollars of the whole session"),
    option(
        "--prompt NAME=VERSION",
        "a version of a prompt to try instead of the one in force (role admin)",
        "prompts",
        multiple=True,
    ),
    option("--private", "nobody else in the tenant sees the session"),
    option(
        "--set NAME=VALUE",
        "any other field of the session, as the API names it; the value is JSON or a text",
        "fields",
        multiple=True,
    ),
    option("--detach", "print the session's id and do not follow it"),
)
"""Options of a command that makes a session: who works on it and within which limits."""
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
"""The API's own values. The command line does not load the API's modules; a test compares the two."""


def state_is_a_directory(given: Given) -> Given:
    """Raises UsageError if the state of a session was given instead of a directory."""
    if given.get("state") in STATES:
        raise click.UsageError(f"--state is the local stack's directory: say --state-is {given['state']}")
    return given


def intervention_then_option(given: Given) -> Given:
    """`resolve SESSION [INTERVENTION] OPTION`. Raises UsageError."""
    named = [*(given.pop("words") or ())]
    if not 1 <= len(named) <= 2:
        raise click.UsageError("an option is needed, and before it an intervention if several are open")
    return {**given, "intervention": named[0] if len(named) == 2 else None, "option": named[-1]}


def decision(name: str, help: str, *parameters: click.Parameter) -> Command:
    """A command that is one option of an intervention."""
    usage = f"{name} SESSION|INTERVENTION [INTERVENTION]"
    return api_command(usage, f"{DECIDED}:decide", help, COMMENT, *parameters, option=name)


def control(name: str, help: str) -> Command:
    return api_command(f"{name} SESSION", f"{RUN}:control", help, action=name)


COMMANDS = (
    api_command(
        "run",
        f"{RUN}:run",
        "Give an agent a goal and follow it. The goal need not be quoted.",
        text_argument("GOAL..."),
        *STARTED,
        option("--review-every N", "ask before every Nth turn; 1: before each turn (single-stepping)"),
        option("--files DIR", "put this directory's files into the storage first"),
        NO_WAIT,
        epilog=EXIT_CODES,
    ),
    api_command(
        "watch SESSION",
        f"{RUN}:watch",
        "Follow a session to its end.",
        option("--all", "begin with its first run (default: with its last one)"),
        NO_WAIT,
        epilog=EXIT_CODES,
    ),
    api_command(
        "say SESSION",
        f"{RUN}:say",
        "Tell a session something. One that has ended begins its next run with it.",
        text_argument("TEXT..."),
    ),
    api_command(
        "fork SESSION",
        f"{RUN}:fork",
        "Start a new session from the end of a turn, with a copy of the conversation. Files are as they are now.",
        text_argument("[TEXT...]"),
        option(
            "--at SEQ",
            "the number of an event, as `acta watch` shows it: fork from the end of its turn (default: the newest "
            "turn that has ended)",
        ),
        *STARTED,
        NO_WAIT,
        epilog=EXIT_CODES,
    ),
    api_command(
        "sessions",
        f"{LISTED}:sessions",
        "List sessions, newest first.",
        option("--limit N", "the most sessions (default: 20)", default=20),
        option("--state-is STATE", "only sessions in this state, such as completed"),
        option("--agent ID", "only sessions of this agent"),
        option("--goal WORDS", "only sessions whose goal has these words at its beginning"),
        option(
            "--user SUB",
            "only sessions that this person started, by their subject: `created_by` in `acta sessions --json`",
        ),
        option("--goal-met yes|no", "only completed sessions that met their goal, or did not"),
        option("--children", "also sessions that calls of other sessions have started"),
        prepare=state_is_a_directory,
    ),
    api_command(
        "plan SESSION",
        f"{LISTED}:plan",
        "Show a session's plan, or edit its pending steps.",
        option("--add TEXT", "add a step at the end; repeatable", multiple=True),
        option("--change N TEXT", "replace the text of step N; repeatable", multiple=True),
        option("--skip N", "skip step N; repeatable", multiple=True),
        option("--move N M", "move step N before step M; repeatable", multiple=True),
        option("--from FILE", "operations as JSON, - for standard input", "source"),
        option("--comment TEXT", "why; the agent reads it"),
        epilog="Running and finished steps cannot be changed. All changes are made or none, and the agent is told. "
        "--from: a list as in the body of PATCH /v1/sessions/{id}/plan, which may have tools, inputs and permissions.",
    ),
    api_command(
        "limits SESSION",
        f"{LISTED}:limits",
        "Show a session's limits, or change them while it runs or before its next run.",
        option("--max-steps N", "turns of a run"),
        WHOLE_TOKENS,
        option("--cost-budget USD", "the whole budget, in US dollars"),
        option("--review-every N", "ask before every Nth turn; 0: never"),
        epilog="If a question about the budget is open, answer it with `acta raise`.",
    ),
    api_command("trace SESSION", f"{LISTED}:trace", "Show what a session thought and did."),
    api_command(
        "tree SESSION",
        "sessions.tree:tree",
        "Show the sessions that a session's calls of agents have started, and theirs.",
    ),
    api_command(
        "receipt SESSION",
        f"{LISTED}:receipt",
        "Show what a session has cost, in counts and in US dollars.",
    ),
    api_command(
        "rate SESSION",
        f"{RUN}:rate",
        "Say whether the answer of a session was good. You can change it later.",
        argument("up|down", "rating", type=click.Choice(("up", "down"))),
        option("--comment TEXT", "why; whoever may read the session reads it, and the agent does not"),
        option("--run ID", "an earlier run of the session (default: the last one that was completed)"),
    ),
    control("pause", "Pause a session."),
    control("resume", "Continue a paused session, or make a waiting session try again now."),
    control("cancel", "Cancel a session."),
    api_command("interventions", f"{DECIDED}:interventions", "List what waits for a person."),
    decision("approve", "Approve what a session asks permission for."),
    decision(
        "reject",
        "Reject what a session asks permission for.",
        option("--all", "all that the session asks permission for"),
    ),
    decision(
        "raise",
        "Raise the budget of a session that has used it up.",
        WHOLE_TOKENS,
        option("--cost-budget --cost-budget-usd USD", "the whole budget, in US dollars", "cost_budget_usd"),
    ),
    decision("finish", "End a session that has used up its budget, with what it has."),
    api_command(
        "resolve SESSION|INTERVENTION",
        f"{DECIDED}:decide",
        "Decide what a session waits for. Options are, for example, retry, record, skip, raise, finish, continue and "
        "cancel.",
        argument("[INTERVENTION] OPTION", "words", nargs=-1, required=True),
        option(
            "--input JSON", "a JSON object with what the option needs; for modify the call's whole new input"
        ),
        COMMENT,
        prepare=intervention_then_option,
    ),
    api_command(
        "answer SESSION|INTERVENTION",
        f"{DECIDED}:answer",
        "Answer a session's question.",
        text_argument("TEXT..."),
    ),
)
