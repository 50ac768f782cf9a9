"""Commands about the tenant's things: files, agents, tools, prompts, memories, notifications."""

import click

from acta.cli.commands.grammar import Command, Group, api_command, argument, flag, joined, option, words

FILE_KINDS = ("tool", "mcp-server", "prompt", "agent")
"""Those of `acta.cli.apply.kinds`, which is not loaded for a command's help; a test compares."""

FILES = Group(
    "files",
    "The tenant's storage.",
    api_command(
        "ls",
        "files:list_files",
        "List the files: all, or those whose path begins with PREFIX. '~/': your private files.",
        argument("prefix", required=False),
        flag("--deleted", help="those that were deleted, and that `acta files restore` can write again"),
    ),
    api_command(
        "get",
        "files:get",
        "Download a file.",
        argument("path"),
        option("-o", "--output", metavar="FILE", help="where to write it (default: standard output)"),
        json=False,
    ),
    api_command(
        "put",
        "files:put",
        "Upload a file, or a directory with all its files. SOURCE - is standard input.",
        argument("source"),
        argument("path", required=False),
        flag("--new", help="only where there is no file yet"),
        option(
            "--if-etag",
            metavar="ETAG",
            help="only over the version that has it, as `acta files versions PATH --json` shows it; of one file",
        ),
        epilog="PATH: where it is in the storage; of a directory, what its files' paths begin with. Without --new and "
        "--if-etag what is there is replaced.",
    ),
    api_command("rm", "files:remove", "Delete a file.", argument("path"), json=False),
    api_command(
        "versions",
        "files:versions",
        "List what a file was, newest first, also of a deleted one.",
        argument("path"),
    ),
    api_command(
        "restore",
        "files:restore",
        "Write an earlier version of a file again. VERSION is its id, as `acta files versions PATH` shows it.",
        argument("path"),
        argument("version"),
    ),
)

SECRETS = Group(
    "secrets",
    "Secrets that headers of tools refer to (role admin).",
    api_command(
        "set",
        "tool_secrets:set_secret",
        "Set a secret. Its value is read from standard input, or asked for and not shown.",
        argument("name"),
        option(
            "--host",
            multiple=True,
            metavar="HOST",
            help="tools may send it there alone; more than once for more (default: the hosts that it has, else any)",
        ),
        json=False,
    ),
    api_command("list", "tool_secrets:list_secrets", "List the secrets, without their values."),
    api_command(
        "rm", "tool_secrets:remove_secret", "Delete a secret for good.", argument("name"), json=False
    ),
)


def listed(kind: str, help: str) -> Command:
    return api_command("ls", "definitions:list_all", help, kind=kind)


def shown(kind: str, help: str, name: str) -> Command:
    return api_command("get", "definitions:show_one", help, argument("name", name), kind=kind)


def removed(kind: str, help: str, name: str) -> Command:
    return api_command("rm", "definitions:remove", help, argument("name", name), json=False, kind=kind)


def put(kind: str, help: str) -> Command:
    return api_command(
        "put",
        "definitions:put",
        help,
        argument("source", "FILE"),
        kind=kind,
        epilog="With a version in it, it replaces that version alone.",
    )


AGENTS = Group(
    "agents",
    "The tenant's agents.",
    listed("agents", "List the agents."),
    shown("agents", "Show an agent as JSON, ready to be changed and put again.", "ID"),
    put("agents", "Make or replace an agent from a JSON file, - for standard input (role admin)."),
    removed("agents", "Delete an agent (role admin).", "ID"),
)
TOOLS = Group(
    "tools",
    "The tenant's tools.",
    listed("tools", "List the tools, built-in ones first."),
    shown("tools", "Show a tool as JSON.", "NAME"),
    put("tools", "Make or replace a tool from a JSON file, - for standard input (role admin)."),
    api_command(
        "rm",
        "definitions:remove_named",
        "Delete a tool (role admin).",
        argument("name"),
        flag("--force", help="although agents name it: they go on without it"),
        json=False,
        kind="tools",
    ),
    api_command(
        "call",
        "tool_calls:call",
        "Try a tool once outside a session (role admin).",
        argument("name"),
        argument("input", required=False),
        option("--file", metavar="FILE", help="read the input from it, - for standard input"),
        flag("--yes", help="run a tool, too, whose calls a person approves in a session"),
        epilog='INPUT: a JSON object such as \'{"order_id": "7"}\', - for standard input.',
    ),
    SECRETS,
)
MCP = Group(
    "mcp",
    "MCP servers whose tools agents may have (role admin).",
    listed("mcp_servers", "List the servers."),
    shown("mcp_servers", "Show a server and its confirmed tools as JSON.", "NAME"),
    api_command(
        "put",
        "mcp_servers:put",
        "Name a server, or replace it, from a JSON file, - for standard input.",
        argument("source", "FILE"),
        epilog="With a version in it, it replaces that version alone. Confirmed tools stay while the URL does.",
    ),
    api_command(
        "refresh", "mcp_servers:refresh", "Ask a server what it says of its tools now.", argument("name")
    ),
    api_command(
        "confirm",
        "mcp_servers:confirm",
        "Let agents have tools of a server, as it describes them now.",
        argument("name"),
        argument("tool", nargs=-1, required=True),
        flag("--read", help="they only read, as the server says: nobody is asked before a call"),
        flag("--no-approval", help="nobody is asked before a call, although the tools may act"),
        option("--approver-role", metavar="ROLE", help="who approves each call"),
        option(
            "--pin",
            metavar="PIN",
            help="of what was looked at before, of one TOOL: nothing is shown or asked",
        ),
        flag("--yes", help="do not ask"),
        epilog="TOOL: the server's name for it. What the server says of it is shown first.",
    ),
    api_command(
        "rm",
        "definitions:remove_named",
        "Delete a server and its tools.",
        argument("name"),
        flag("--force", help="although agents name its tools: they go on without them"),
        json=False,
        kind="mcp_servers",
    ),
)
NOTIFICATIONS = Group(
    "notifications",
    "The webhook that is told of questions and ended sessions (role admin).",
    api_command("show", "notifications:show", "Show where your tenant is told."),
    api_command(
        "set",
        "notifications:put",
        "Have this webhook told. Without URL only sessions with a webhook of their own are told.",
        argument("url", required=False),
        flag(
            "--secret", help="a new secret to sign with: read from standard input, or asked for and not shown"
        ),
        epilog="The first time a secret is asked for in any case. An operator says which hosts may be told.",
    ),
    api_command("rm", "notifications:remove", "Tell nobody any more, and forget the secret.", json=False),
)
PROMPTS = Group(
    "prompts",
    "The managed prompts (role admin).",
    listed("prompts", "List the prompts in force."),
    api_command("get", "definitions:show_prompt", "Print a prompt's text.", argument("name")),
    api_command(
        "put",
        "definitions:put_prompt",
        "Write a prompt's next version from a file, - for standard input.",
        argument("name"),
        argument("source", "FILE"),
        option("--comment", metavar="TEXT", help="why, for those who read the versions"),
        option("--expected-version", type=int, metavar="N", help="only where this version is in force"),
        flag(
            "--draft",
            help="do not put it in force: `acta fork ID --prompt NAME=VERSION` tries it, `acta prompts restore` puts "
            "it in force",
        ),
    ),
    api_command(
        "versions", "definitions:prompt_versions", "List a prompt's versions, newest first.", argument("name")
    ),
    api_command(
        "restore",
        "definitions:restore_prompt",
        "Put another version of a prompt in force, as a new one: an earlier one or a draft.",
        argument("name"),
        argument("version", type=int),
        option("--comment", metavar="TEXT", help="why, for those who read the versions"),
    ),
)
MEMORIES = Group(
    "memories",
    "What agents remember from one session to the next.",
    api_command(
        "ls",
        "definitions:list_all",
        "List the memories that you may see.",
        option("--agent", metavar="ID", help="of this agent alone"),
        kind="memories",
    ),
    shown("memories", "Show a memory.", "ID"),
    api_command(
        "add",
        "definitions:add_memory",
        "Have an agent remember something.",
        words("text", "TEXT..."),
        option("--kind", default="fact", help="such as fact or preference (default: fact)"),
        option("--tag", multiple=True, metavar="WORD", help="to find it by; more than once for more"),
        option("--agent", metavar="ID", help="which agent (default: the deployment's own)"),
        prepare=joined("text"),
    ),
    removed("memories", "Delete a memory.", "ID"),
)

APPLY = api_command(
    "apply",
    "apply.apply:apply",
    "Make the tenant's definitions what the files of FOLDER say, after showing what that changes (role admin).",
    argument("folder"),
    flag("--plan", help="only show what would change; exit code 3 where something would"),
    flag("--yes", help="write without asking"),
    option(
        "--set",
        "set_name",
        metavar="NAME",
        help="the set that owns them (default: acta.yaml's, else FOLDER's name)",
    ),
    flag("--adopt", help="take over definitions that another set owns, or nobody"),
    flag("--overwrite", help="write also what was changed by hand since it was applied"),
)
EXPORT = api_command(
    "export",
    "apply.export:export",
    "Write the tenant's definitions as files into FOLDER, as `acta apply` reads them (role admin).",
    argument("folder"),
    option("--set", "set_name", metavar="NAME", help="only what this set owns"),
    flag("--overwrite", help="replace files that say something else"),
)
SCHEMA = Command(
    "schema",
    "apply.schema:show_schema",
    "Show the JSON Schema of a kind of definition, as its file has it.",
    click.Argument(["kind"], type=click.Choice(FILE_KINDS), metavar="KIND"),
    epilog=f"KIND: {', '.join(FILE_KINDS)}.",
)

COMMANDS = (FILES, APPLY, EXPORT, SCHEMA, AGENTS, TOOLS, MCP, PROMPTS, MEMORIES, NOTIFICATIONS)
