"""Commands about who you are at a deployment in AWS, and who else may use it."""

from acta.cli.commands.grammar import JSON, Command, flag, option

ENVIRONMENT = option("--env", metavar="NAME", required=True, help="the environment, such as prod")
LOGIN = Command(
    "login",
    "sign_in.login:login",
    "Sign in to an environment with your browser. Later commands take --env NAME and renew the token by themselves.",
    ENVIRONMENT,
    option("--url", metavar="URL", help="its API (default: that of last time, else what its stack says)"),
    option("--issuer", metavar="URL", help="who signs people in; goes with --url and --client-id"),
    option("--client-id", metavar="ID", help="of the command line, at the issuer"),
    option("--scopes", metavar="WORDS", help="what to ask the issuer for (default: openid email profile)"),
    flag("--access-token", help="the API takes the access token, not the ID token"),
    flag("--look-up", help="ask the stack again, with your AWS credentials, instead of taking last time's"),
    flag("--no-browser", help="print the address to open instead of opening it"),
    JSON,
    epilog="Without a person, as in CI, give a token: --token, or ACTA_TOKEN with ACTA_API_URL.",
)
LOGOUT = Command(
    "logout",
    "sign_in.login:logout",
    "Forget the sign-in to an environment, here and at the issuer.",
    option("--env", metavar="NAME", help="the environment (default: all of them)"),
    JSON,
)

COMMANDS = (LOGIN, LOGOUT)
