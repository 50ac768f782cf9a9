"""Commands for a stack or a deployment: they start it, install it, look into it and repair it, and show who you are
there and who else may use it.
"""

import click

from acta.cli.commands.grammar import (
    ENVIRONMENT,
    JSON,
    STATE,
    YES,
    Command,
    Group,
    api_command,
    argument,
    option,
)

NAMED = option("--env NAME", "one of your environments.py, such as dev", required=True)
DECIDE = option(
    "--decide OPTION=VALUE",
    "decides a point that a strict environment leaves to you (docs/options.md); repeatable",
    multiple=True,
)
TWELVE_HOURS = 43_200
MOST_SECONDS = 999_999_999

TENANT = (ENVIRONMENT, option("--tenant T", "whose data", required=True), STATE)
BUCKET_OWNER = option(
    "--bucket-owner ACCOUNT", "the AWS account of the bucket (default: that of your credentials)"
)
CONFIRMED = option("--confirm NAME", "for scripts: the environment's name once more")

SERVED = (
    option(
        "--port PORT",
        "of the API on 127.0.0.1 (default: that of last time, else 2282, else a free one)",
        type=click.IntRange(1, 65_535),
    ),
    option("--state DIR", "where its data lives (default: .acta)"),
    option("--samples", "put a few files into the storage, to try a goal on"),
    option("--open", "open the page in your browser when ready"),
    option("--json", "print one line of JSON when ready, for scripts"),
)
LOCAL = (
    Command(
        "init [FOLDER]",
        "local.init:init",
        "Make your own repository: an agent, a tool, tests, environments, CI.",
        option("--missing", "write only the files that are not there yet"),
        JSON,
        epilog="FOLDER: default: the current one. Nothing that is there is overwritten.",
    ),
    Command(
        "dev", "local.dev:dev", "Serve Acta from one process until Ctrl-C, without the local AWS.", *SERVED
    ),
    Command("up", "local.up:up", "Serve the local stack until Ctrl-C.", *SERVED),
    Command(
        "token",
        "local_stack:token",
        "Print a token for the local stack.",
        option("--tenant TEXT", "the local stack's own commands use demo", required=True),
        option("--user TEXT", "the local stack's own commands use you", required=True),
        option(
            "--role TEXT",
            "such as admin, approver or one that an agent names; may be repeated (default: member)",
            multiple=True,
        ),
        option(
            "--ttl SECONDS", "default: 12 hours", type=click.IntRange(1, MOST_SECONDS), default=TWELVE_HOURS
        ),
        STATE,
    ),
    Group(
        "new",
        "Make a folder with a working example.",
        Command(
            "tool NAME",
            "local.new_tool:new_tool",
            "Make tools/NAME: a working tool in Python with its tests and settings.",
            option("--dir DIR", "where the folders of tools are (default: tools)"),
            JSON,
        ),
    ),
    Command(
        "lock [FOLDER...]",
        "local.lock:lock",
        "Write the versions and hashes of the libraries that folders of Python tools ask for (default: all folders).",
        option("--dir DIR", "where the folders of tools are (default: tools)"),
        option("--upgrade", "take the newest versions that requirements.txt allows"),
        option("--check", "write nothing: fail where a lock is missing or out of date"),
    ),
    Command(
        "setup",
        "operations.doctor:setup",
        "Bring what pip cannot: the CDK command line, and Python environments for the local AWS and the Lambdas.",
        epilog="`acta up`, `acta deploy` and other commands do the same when something is missing.",
    ),
    Command("demo", "local.up:demo", "Start a local stack, run a real goal on it and keep the files."),
)
OPERATIONS = (
    Command(
        "deploy",
        "operations.deploy:deploy",
        "Deploy into your AWS account with the CDK: says what will change, and asks.",
        NAMED,
        DECIDE,
        option("--yes", "do not ask, for CI"),
        option("--policies DIR", "deploy nothing: write the IAM policies that deploying needs"),
        epilog="Exit codes: 0 it is deployed, 1 cdk failed or the answer was no, 2 wrong use or refused.",
    ),
    Command(
        "bootstrap",
        "operations.deploy:bootstrap",
        "Prepare the account and region of an environment for deployments, once, as an administrator of the account.",
        NAMED,
        option(
            "--cloudformation-execution-policies ARNS",
            "what deployments may do, instead of everything; see acta deploy --policies",
        ),
        option("--custom-permissions-boundary NAME", "bounds the role that deployments work with"),
    ),
    Command(
        "diff",
        "operations.deploy:diff",
        "Show what a deployment would change.",
        NAMED,
        DECIDE,
        option("--exit-code", "exit with 1 if anything would change"),
        JSON,
    ),
    Command(
        "posture",
        "operations.posture:posture",
        "Check from outside whether a deployment is as careful as its environment says (with your AWS credentials).",
        ENVIRONMENT,
        JSON,
        STATE,
        epilog="Exit codes: 0 it is, 1 something differs or cannot be seen, 2 wrong use or refused.",
    ),
    api_command(
        "verify",
        "operations.verify.command:verify",
        "Ask a deployment what only AWS can answer, and write a report without content (with your AWS credentials).",
        option("--no-sessions", "start no session"),
        option("--changes", "also checks that change the deployment for a moment, and put it back"),
        CONFIRMED,
        YES,
        option("--only CHECK", "this check; repeatable (default: all)", multiple=True),
        option("--to DIR", "where the report is written (default: here)"),
        epilog="Exit codes: 0 no check failed, 1 a check failed, 2 wrong use or refused. "
        "docs/real-aws.md has every check.",
    ),
    Command(
        "outputs",
        "operations.deploy:outputs",
        "Show where a deployed environment's API, issuer and other things are.",
        NAMED,
        JSON,
    ),
    Command(
        "releases",
        "operations.releases:releases",
        "List the releases that a deployment can go back to, newest first.",
        ENVIRONMENT,
        JSON,
        STATE,
    ),
    Command(
        "rollback",
        "operations.releases:rollback",
        "Go back to a release whose functions are still there.",
        ENVIRONMENT,
        option("--to RELEASE", "as `acta releases` names it (default: the one before)"),
        YES,
        JSON,
        STATE,
    ),
    Command(
        "destroy",
        "operations.deploy:destroy",
        "Delete a deployed environment: says what is deleted and what is kept, and asks for its name.",
        NAMED,
        option("--yes NAME", "the environment's name again, for scripts: do not ask"),
        epilog="Exit codes: 0 it is deleted, 1 something is left or the name was not typed, 2 wrong use or refused.",
    ),
    Command(
        "costs",
        "operations.costs:show_costs",
        "Estimate what sessions will cost a month, by part (docs/costs.md).",
        option("--sessions N", "a month", type=click.IntRange(0), required=True),
        option("--turns M", "of a session", type=click.IntRange(1, 1_000), required=True),
        option("--model TEXT", "default: claude-sonnet-5-5", default="claude-sonnet-5-5"),
        option(
            "--model-seconds S",
            "seconds that a turn waits for the model (default: 5)",
            type=click.FloatRange(0, 3_600),
            default=5.0,
        ),
        option("--env NAME", "include what this environment costs at rest, with its sizes and prices"),
        JSON,
    ),
    api_command(
        "models",
        "operations.usage:models",
        "List the models, their prices and their keys.",
        option("--check", "ask the providers whether they take the keys"),
    ),
    api_command(
        "usage",
        "operations.usage:usage",
        "Show usage: an admin sees the whole tenant, others see their own.",
        option("--by hour|day|agent|model|user", "what a row is about (default: day)", default="day"),
        option("--since TIME", "from this time on (default: seven days ago)"),
        option("--until TIME", "before this time"),
    ),
    api_command(
        "audit",
        "operations.usage:audit",
        "Show who did what, newest first (role admin).",
        option("--since TIME", "from this time on, such as 2026-11-22T09:00:00Z"),
        option("--until TIME", "before this time"),
        option("--action TEXT", "such as session.delete, intervention.resolve or file.write"),
        option("--user SUB", "of this person, as the identity provider names them"),
        option("--session ID", "on this session, deleted or not"),
        option("--limit N", "the most records (default: 50)", default=50),
        option("--json", "print each record as one line of JSON"),
        json=False,
    ),
    Command(
        "doctor",
        "operations.doctor:doctor",
        "Check what this machine has and what is missing.",
        STATE,
        option("--repair", "continue sessions that stand still"),
        ENVIRONMENT,
        option(
            "--failed-since 2h",
            "list the runs that failed since then and can be tried again (m, h, d), and ask whether to do so",
        ),
        option("--yes", "with --failed-since: do not ask"),
        option("--session ID", "repair this session, even if it has failed"),
        option("--tenant T", "whose session it is (the local stack's default: demo)"),
        epilog="Exit codes: 0 all is well, 1 something is missing or could not be done, 2 wrong use or refused, "
        "5 failed sessions were listed and not repaired.",
    ),
    Command(
        "backup",
        "operations.stored:backup",
        "Back up a tenant with your AWS credentials: definitions, sessions, files.",
        *TENANT,
        option("--to PLACE", "a new directory, or s3://bucket/prefix", required=True),
        BUCKET_OWNER,
        JSON,
        epilog="A backup has no secrets, tokens, approvals or unfinished work. Exit codes: 0 all is in it, 1 some "
        "sessions cannot be read and are not in it, 2 wrong use or refused.",
    ),
    Command(
        "restore",
        "operations.stored:restore",
        "Restore a backup into a tenant. Sessions come back ended.",
        *TENANT,
        option("--from PLACE", "a directory, or s3://bucket/prefix", "source", required=True),
        BUCKET_OWNER,
        option("--replace", "replace existing definitions and files that differ (never sessions)"),
        JSON,
        epilog="May be repeated: existing data is kept. Exit codes: 0 all is restored, 1 something existing differs "
        "and was kept, or was deleted within the last hour, 2 wrong use or refused.",
    ),
    api_command(
        "logs SESSION",
        "operations.logs:logs",
        "Show what the functions logged about a session, oldest first. With --env it needs AWS credentials, and no "
        "token if you give the session's whole id.",
        option("--since 2h", "only lines that are not older (m, h, d; default: all)"),
        option("--follow", "also show new lines, until Ctrl-C"),
        option("--all", "also every successful read of the session"),
        option("--json", "print each line as one line of JSON"),
        json=False,
    ),
    Command(
        "erase",
        "operations.stored:erase",
        "Erase a tenant, or one person in it, with your AWS credentials.",
        *TENANT,
        option("--user SUB", "only the data of this person, as the identity provider names them"),
        option("--confirm NAME", "for scripts: the name of the tenant, or of the person, once more"),
        JSON,
        epilog="Exit codes: 0 nothing is left, 2 wrong use or refused, 5 something may come back: run it again after "
        "the time that it names.",
    ),
    Command(
        "quarantine",
        "operations.stored:quarantine",
        "Stop all work in an environment before its table is restored to an earlier time; --lift lets it go on.",
        ENVIRONMENT,
        STATE,
        option("--lift", "let it work again"),
        CONFIRMED,
        JSON,
        epilog="Exit codes: 0 it holds, or was lifted, 1 AWS does not say that it holds, 2 wrong use or refused.",
    ),
    Command(
        "restored",
        "operations.stored:restored",
        "Use a table that AWS restored to an earlier time: copies it, parks sessions, repeats erasures.",
        ENVIRONMENT,
        STATE,
        option("--from TABLE", "the name of the restored table", "source", required=True),
        option("--at TIME", "the time to which it was restored (default: as AWS reports)"),
        CONFIRMED,
        JSON,
        epilog="May be repeated. Exit codes: 0 all is done, 1 something could not be read or erased again, 2 wrong use "
        "or refused.",
    ),
    Command(
        "completion",
        "main:completion",
        "Print the script with which a shell completes commands of `acta`.",
        argument("SHELL", type=click.Choice(("bash", "zsh", "fish"))),
        epilog='In bash or zsh: eval "$(acta completion bash)". In fish: acta completion fish | source.',
    ),
)


SIGN_IN_TO = option("--env NAME", "the environment, such as prod", required=True)
LOGIN = Command(
    "login",
    "sign_in:login",
    "Sign in to an environment, or to `local`, with your browser. Later commands take --env NAME and renew the token "
    "by themselves.",
    SIGN_IN_TO,
    option("--url URL", "its API (default: the last one, else the one in its stack)"),
    option("--issuer URL", "who signs people in; goes with --url and --client-id"),
    option("--client-id ID", "the command line's client id at the issuer"),
    option("--scopes WORDS", "what to ask the issuer for (default: openid email profile)"),
    option("--access-token", "the API takes the access token, not the ID token"),
    option("--look-up", "ask the stack again, with your AWS credentials, instead of using the last answer"),
    option("--no-browser", "print the address to open instead of opening it"),
    STATE,
    JSON,
    epilog="Without a person, as in CI, give a token: --token, or ACTA_TOKEN with ACTA_API_URL.",
)
CONSOLE = Command(
    "console",
    "sign_in:console",
    "Open the page of a deployment in your browser; that of the local stack opens signed in.",
    option("--env NAME", "an environment that you have signed in to (default: the local stack)"),
    option("--tenant TEXT", "of the local stack (default: demo)", default="demo"),
    option("--user TEXT", "of the local stack (default: you)", default="you"),
    option("--role TEXT", "of the local stack; repeatable (default: admin)", multiple=True),
    option("--no-browser", "print the address instead of opening it"),
    JSON,
    STATE,
)
LOGOUT = Command(
    "logout",
    "sign_in:logout",
    "Forget the sign-in to an environment, here and at the issuer.",
    option("--env NAME", "the environment (default: all of them)"),
    JSON,
)
USERS = Group(
    "users",
    "Who may sign in to an environment with Acta's own user pool (with your AWS credentials).",
    Command(
        "add EMAIL",
        "sign_in:add_user",
        "Add a person, or give an existing one more roles. They get a first password by email.",
        SIGN_IN_TO,
        option("--tenant TEXT", "whose data they work on; it never changes", required=True),
        option(
            "--role TEXT",
            "such as admin, or one that a tool names; repeatable (default: member)",
            multiple=True,
        ),
        option("--no-email", "send no email: set a password yourself, with the `aws` command"),
        JSON,
    ),
    Command(
        "list",
        "sign_in:list_users",
        "List the people, with their roles.",
        SIGN_IN_TO,
        option("--tenant TEXT", "only people of this tenant"),
        JSON,
    ),
    Command(
        "sign-out EMAIL",
        "sign_in:end_user",
        "Sign a person out everywhere: on the page and at every command line.",
        SIGN_IN_TO,
        JSON,
        removes=False,
    ),
    Command(
        "remove EMAIL",
        "sign_in:end_user",
        "Remove a person: their sign-ins end, and what they made is kept.",
        SIGN_IN_TO,
        JSON,
        removes=True,
    ),
)

SIGN_IN = (LOGIN, LOGOUT, CONSOLE, USERS)
