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
        print(
            f"acta: {error.name} is missing, which this command needs: pip install 'acta-agents[{extra}]'",
            file=sys.stderr,
        )
        return 2
