"""Commands about who you are at a deployment in AWS, and who else may use it."""

from acta.cli.commands.grammar import JSON, STATE, Command, Group, option

NAMED = option("--env NAME", "the environment, such as prod", required=True)
LOGIN = Command(
    "login",
    "sign_in.login:login",
    "Sign in to an environment, or to `local`, with your browser. Later commands take --env NAME and renew the token "
    "by themselves.",
    NAMED,
    option("--url URL", "its API (default: that of last time, else what its stack says)"),
    option("--issuer URL", "who signs people in; goes with --url and --client-id"),
    option("--client-id ID", "of the command line, at the issuer"),
    option("--scopes WORDS", "what to ask the issuer for (default: openid email profile)"),
    option("--access-token", "the API takes the access token, not the ID token"),
    option("--look-up", "ask the stack again, with your AWS credentials, instead of taking last time's"),
    option("--no-browser", "print the address to open instead of opening it"),
    STATE,
    JSON,
    epilog="Without a person, as in CI, give a token: --token, or ACTA_TOKEN with ACTA_API_URL.",
)
CONSOLE = Command(
    "console",
    "sign_in.login:console",
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
    "sign_in.login:logout",
    "Forget the sign-in to an environment, here and at the issuer.",
    option("--env NAME", "the environment (default: all of them)"),
    JSON,
)
USERS = Group(
    "users",
    "Who may sign in to an environment with Acta's own user pool (with your AWS credentials).",
    Command(
        "add EMAIL",
        "sign_in.users:add",
        "Add a person, or give one that is there more roles. They get a first password by email.",
        NAMED,
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
        "sign_in.users:list_users",
        "List the people, with their roles.",
        NAMED,
        option("--tenant TEXT", "of this tenant alone"),
        JSON,
    ),
    Command(
        "remove EMAIL",
        "sign_in.users:remove",
        "Remove a person: their sign-ins end, and what they made stays.",
        NAMED,
        JSON,
    ),
)

COMMANDS = (LOGIN, LOGOUT, CONSOLE, USERS)
