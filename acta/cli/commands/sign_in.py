"""Commands about who you are at a deployment in AWS, and who else may use it."""

from acta.cli.commands.grammar import JSON, STATE, Command, Group, argument, flag, option

ENVIRONMENT = option("--env", metavar="NAME", required=True, help="the environment, such as prod")
LOGIN = Command(
    "login",
    "sign_in.login:login",
    "Sign in to an environment, or to `local`, with your browser. Later commands take --env NAME and renew the token "
    "by themselves.",
    ENVIRONMENT,
    option("--url", metavar="URL", help="its API (default: that of last time, else what its stack says)"),
    option("--issuer", metavar="URL", help="who signs people in; goes with --url and --client-id"),
    option("--client-id", metavar="ID", help="of the command line, at the issuer"),
    option("--scopes", metavar="WORDS", help="what to ask the issuer for (default: openid email profile)"),
    flag("--access-token", help="the API takes the access token, not the ID token"),
    flag("--look-up", help="ask the stack again, with your AWS credentials, instead of taking last time's"),
    flag("--no-browser", help="print the address to open instead of opening it"),
    STATE,
    JSON,
    epilog="Without a person, as in CI, give a token: --token, or ACTA_TOKEN with ACTA_API_URL.",
)
CONSOLE = Command(
    "console",
    "sign_in.login:console",
    "Open the page of a deployment in your browser; that of the local stack opens signed in.",
    option(
        "--env", metavar="NAME", help="an environment that you have signed in to (default: the local stack)"
    ),
    option("--tenant", default="demo", help="of the local stack (default: demo)"),
    option("--user", default="you", help="of the local stack (default: you)"),
    option("--role", multiple=True, help="of the local stack; repeatable (default: admin)"),
    flag("--no-browser", help="print the address instead of opening it"),
    JSON,
    STATE,
)
LOGOUT = Command(
    "logout",
    "sign_in.login:logout",
    "Forget the sign-in to an environment, here and at the issuer.",
    option("--env", metavar="NAME", help="the environment (default: all of them)"),
    JSON,
)
USERS = Group(
    "users",
    "Who may sign in to an environment with Acta's own user pool (with your AWS credentials).",
    Command(
        "add",
        "sign_in.users:add",
        "Add a person, or give one that is there more roles. They get a first password by email.",
        argument("email"),
        ENVIRONMENT,
        option("--tenant", required=True, help="whose data they work on; it never changes"),
        option(
            "--role",
            multiple=True,
            help="such as admin, or one that a tool names; repeatable (default: member)",
        ),
        flag("--no-email", help="send no email: set a password yourself, with the `aws` command"),
        JSON,
    ),
    Command(
        "list",
        "sign_in.users:list_users",
        "List the people, with their roles.",
        ENVIRONMENT,
        option("--tenant", help="of this tenant alone"),
        JSON,
    ),
    Command(
        "remove",
        "sign_in.users:remove",
        "Remove a person: their sign-ins end, and what they made stays.",
        argument("email"),
        ENVIRONMENT,
        JSON,
    ),
)

COMMANDS = (LOGIN, LOGOUT, CONSOLE, USERS)
