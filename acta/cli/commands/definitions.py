"""Commands about the tenant's things: files, agents, tools, prompts, memories, schedules, triggers, notifications."""

from pathlib import Path

import click

from acta.cli.commands.grammar import (
    YES,
    Command,
    Group,
    api_command,
    argument,
    option,
    text_argument,
)

SCHEMAS = Path(__file__).parents[1] / "apply" / "schemas"
FILE_KINDS = tuple(sorted(each.stem for each in SCHEMAS.glob("*.json")))
"""The words for one definition of each kind of file."""


def listed(kind: str, help: str, *options: click.Option) -> Command:
    return api_command("ls", "definitions:list_all", help, *options, kind=kind)


def shown(kind: str, usage: str, help: str) -> Command:
    return api_command(usage, "definitions:show_one", help, kind=kind)


def put(kind: str, help: str, epilog: str = "") -> Command:
    epilog = f"With a version in it, it replaces that version alone. {epilog}".rstrip()
    return api_command("put FILE", "definitions:put", help, kind=kind, epilog=epilog)


def paused(kind: str, help: str, help_to_resume: str) -> tuple[Command, Command]:
    pause = api_command("pause ID", "definitions:set_paused", help, kind=kind, paused=True)
    return pause, api_command("resume ID", "definitions:set_paused", help_to_resume, kind=kind, paused=False)


def removed(kind: str, usage: str, help: str, *parameters: click.Parameter) -> Command:
    """A command that deletes something that agents may name, so it has `--force`."""
    return api_command(usage, "definitions:remove", help, *parameters, json=False, kind=kind)


FILES = Group(
    "files",
    "The tenant's storage.",
    api_command(
        "ls [PREFIX]",
        "files:list_files",
        "List the files: all, or those whose path begins with PREFIX. '~/': your private files.",
        option("--deleted", "list deleted files, which `acta files restore` can restore"),
    ),
    api_command(
        "get PATH",
        "files:get",
        "Download a file.",
        option("-o, --output FILE", "where to write it (default: standard output)"),
        json=False,
    ),
    api_command(
        "put SOURCE [PATH]",
        "files:put",
        "Upload a file, or a directory with all its files. SOURCE - is standard input.",
        option("--new", "write only if the file does not exist"),
        option(
            "--if-etag ETAG",
            "write only over the version with this etag, as `acta files versions PATH --json` shows it; one file",
        ),
        epilog="PATH: the path in the storage, or for a directory the beginning of its files' paths. Without --new and "
        "--if-etag existing files are replaced; a deployment may want a role for that with shared files.",
    ),
    removed(
        "files",
        "rm",
        "Delete a file; a deployment may want a role for it.",
        argument("PATH", "name"),
    ),
    api_command(
        "versions PATH", "files:versions", "List the versions of a file, also of a deleted one, newest first."
    ),
    api_command(
        "restore PATH VERSION",
        "files:restore",
        "Write an earlier version of a file again. VERSION is its id, as `acta files versions PATH` shows it.",
    ),
)

SECRETS = Group(
    "secrets",
    "Secrets that headers of tools refer to (role admin).",
    api_command(
        "set NAME",
        "tools:set_secret",
        "Set a secret. Its value is read from standard input, or asked for and not shown.",
        option(
            "--host HOST",
            "send it to this host and to no others; repeatable (default: the hosts that it has; a new one needs some)",
            multiple=True,
        ),
        option("--no-host", "send it nowhere: it only checks what webhooks of triggers bring"),
        json=False,
    ),
    api_command("list", "tools:list_secrets", "List the secrets, without their values."),
    removed("tool_secrets", "rm NAME", "Delete a secret for good."),
)


AGENTS = Group(
    "agents",
    "The tenant's agents.",
    listed("agents", "List the agents."),
    shown("agents", "get ID", "Show an agent as JSON, ready to be changed and put again."),
    put("agents", "Create or replace an agent from a JSON file, - for standard input (role admin)."),
    removed(
        "agents",
        "rm ID",
        "Delete an agent (role admin).",
        option("--force", "even if other agents may call it; they go on without it"),
    ),
)
TOOLS = Group(
    "tools",
    "The tenant's tools.",
    listed("tools", "List the tools, built-in ones first."),
    shown("tools", "get NAME", "Show a tool as JSON."),
    put("tools", "Create or replace a tool from a JSON file, - for standard input (role admin)."),
    removed(
        "tools",
        "rm NAME",
        "Delete a tool (role admin).",
        option("--force", "even if agents name it; they go on without it"),
    ),
    api_command(
        "call NAME [INPUT]",
        "tools:call",
        "Try a tool once outside a session (role admin).",
        option("--file FILE", "read the input from it, - for standard input"),
        option("--yes", "run the tool even if its calls need approval in a session"),
        epilog='INPUT: a JSON object such as \'{"order_id": "7"}\', - for standard input.',
    ),
    SECRETS,
)
MCP = Group(
    "mcp",
    "MCP servers whose tools agents may have (role admin).",
    listed("mcp_servers", "List the servers."),
    shown("mcp_servers", "get NAME", "Show a server and its confirmed tools as JSON."),
    put(
        "mcp_servers",
        "Create or replace a server from a JSON file, - for standard input.",
        "Confirmed tools stay confirmed unless the URL changes.",
    ),
    api_command("refresh NAME", "tools:refresh", "Ask a server how it describes its tools now."),
    api_command(
        "confirm NAME TOOL...",
        "tools:confirm",
        "Let agents have tools of a server, as it describes them now.",
        option("--read", "the tools only read, as the server says: calls need no approval"),
        option("--no-approval", "calls need no approval, although the tools may change something"),
        option("--approver-role ROLE", "who approves each call"),
        option("--pin PIN", "the pin of one TOOL that you looked at before: nothing is shown or asked"),
        YES,
        epilog="TOOL: the server's name for it. Its description is shown first.",
    ),
    removed(
        "mcp_servers",
        "rm NAME",
        "Delete a server and its tools.",
        option("--force", "even if agents name its tools; they go on without them"),
    ),
)
NOTIFICATIONS = Group(
    "notifications",
    "The tenant's webhook for questions and ended sessions (role admin).",
    api_command("show", "definitions:show_webhook", "Show the tenant's webhook."),
    api_command(
        "set [URL]",
        "definitions:put_webhook",
        "Set the tenant's webhook. Without URL only sessions with their own webhook send notifications.",
        option("--secret", "a new signing secret: read from standard input, or asked for and not shown"),
        epilog="The first time a secret is always asked for. An operator decides which hosts are allowed.",
    ),
    removed("notifications", "rm", "Delete the webhook and its secret."),
)
COMMENT = option("--comment TEXT", "why; shown with the version")
PROMPTS = Group(
    "prompts",
    "The managed prompts (role admin).",
    listed("prompts", "List the prompts in force."),
    api_command("get NAME", "definitions:show_prompt", "Print a prompt's text."),
    api_command(
        "put NAME FILE",
        "definitions:put_prompt",
        "Write a prompt's next version from a file, - for standard input.",
        COMMENT,
        option("--expected-version N", "write only if this version is in force"),
        option(
            "--draft",
            "do not put it in force: `acta fork ID --prompt NAME=VERSION` tries it, `acta prompts restore` puts it in "
            "force",
        ),
    ),
    api_command("versions NAME", "definitions:prompt_versions", "List a prompt's versions, newest first."),
    api_command(
        "restore NAME",
        "definitions:restore_prompt",
        "Put another version of a prompt in force, as a new one: an earlier one or a draft.",
        argument("VERSION", type=int),
        COMMENT,
    ),
)
MEMORIES = Group(
    "memories",
    "What agents remember from one session to the next.",
    listed("memories", "List the memories that you may see.", option("--agent ID", "only this agent's")),
    shown("memories", "get ID", "Show a memory."),
    api_command(
        "add",
        "definitions:add_memory",
        "Have an agent remember something.",
        text_argument("TEXT..."),
        option("--kind TEXT", "such as fact or preference (default: fact)", default="fact"),
        option("--tag WORD", "a word to find it by; repeatable", multiple=True),
        option("--agent ID", "which agent (default: the deployment's own)"),
    ),
    removed("memories", "rm ID", "Delete a memory."),
)
SCHEDULES = Group(
    "schedules",
    "Sessions that start at times.",
    listed("schedules", "List the schedules that you may see."),
    shown(
        "schedules",
        "get ID",
        "Show a schedule with its next five times as JSON, ready to be changed and put again.",
    ),
    put("schedules", "Create or replace a schedule from a JSON file, - for standard input."),
    api_command(
        "runs ID", "definitions:schedule_runs", "List what became of a schedule's times, newest first."
    ),
    api_command(
        "run ID",
        "definitions:run_schedule",
        "Start a schedule's session now, whatever is open, also while the schedule is paused.",
        epilog="Its times, `overlap` and {{last}} take no notice of this session.",
    ),
    *paused("schedules", "Have no time start a session until it is resumed.", "Go on with the next time."),
    removed("schedules", "rm ID", "Delete a schedule. Its sessions stay."),
)

TRIGGERS = Group(
    "triggers",
    "Events from outside that start sessions (role admin).",
    listed("triggers", "List the triggers."),
    shown("triggers", "get ID", "Show a trigger, with how many events came to it, as JSON."),
    put("triggers", "Create or replace a trigger from a JSON file, - for standard input."),
    api_command("url ID", "definitions:trigger_url", "Print the URL to which a trigger's events are posted."),
    api_command(
        "events ID",
        "definitions:trigger_events",
        "List the events of a trigger, newest first.",
        option("--outcome waiting|started|told|refused|failed", "only those"),
    ),
    api_command(
        "send ID FILE",
        "definitions:send_event",
        "Send a trigger an event by hand, a JSON file, - for standard input.",
        option("--id ID", "the event's id, which counts once", "event_id"),
    ),
    api_command(
        "replay ID EVENT",
        "definitions:replay_event",
        "Have an event that was refused or failed tried again, in the next minute.",
    ),
    *paused("triggers", "Refuse events, and keep them for a replay.", "Take events again."),
    removed("triggers", "rm ID", "Delete a trigger. Its sessions go on."),
)

APPLY = api_command(
    "apply [FOLDER]",
    "apply.apply:apply",
    "Bring the tenant's definitions in line with the files of FOLDER, after showing the changes (role admin).",
    option("--check", "only check the files, without a deployment"),
    option("--plan", "only show what would change; exit code 3 if anything would"),
    option("--yes", "write without asking"),
    option("--set NAME", "the set that owns them (default: acta.yaml's, else FOLDER's name)", "set_name"),
    option("--adopt", "take over definitions that another set or nobody owns"),
    option("--overwrite", "also overwrite definitions that were changed by hand"),
    epilog="FOLDER: default: your repository, as acta init makes it.",
)
EXPORT = api_command(
    "export FOLDER",
    "apply.apply:export",
    "Write the tenant's definitions as files into FOLDER, as `acta apply` reads them (role admin).",
    option("--set NAME", "only what this set owns", "set_name"),
    option("--overwrite", "replace files that differ"),
)
SCHEMA = Command(
    "schema",
    "apply.schema:show_schema",
    "Show the JSON Schema for files of a kind of definition.",
    argument("KIND", type=click.Choice(FILE_KINDS)),
    epilog=f"KIND: {', '.join(FILE_KINDS)}.",
)

COMMANDS = (
    *(FILES, APPLY, EXPORT, SCHEMA, AGENTS, TOOLS, MCP, PROMPTS, MEMORIES),
    *(SCHEDULES, TRIGGERS, NOTIFICATIONS),
)
