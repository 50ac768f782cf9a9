"""The `acta` command, which says what to install where a library is missing: the package alone has none of its own."""

import sys
from importlib.util import find_spec


def run() -> int:
    """What the program `acta` runs."""
    try:
        from acta.cli.main import main

        return main()
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] == "acta":
            raise
        more = "dev" if sys.argv[1:2] == ["dev"] else "deploy"
        extra = "cli" if find_spec("click") is None else more
        line = f"acta: {error.name} is missing, which this command needs: pip install 'acta-agents[{extra}]'"
        if extra == "deploy" and sys.argv[1:2] == ["login"]:
            line += "; with --url, --issuer and --client-id it asks no AWS, and needs none of that"
        print(line, file=sys.stderr)
        return 2
