"""How a person names a session: by its id, by the id's beginning, or as `last`."""

import re
from itertools import islice

from acta.cli.exit_codes import CliError
from acta.cli.terminal.text import one_line
from acta.client.api import Client

LAST = "last"
PREFIX = "ses_"
FULL = re.compile(r"ses_[0-9A-Z]{26}")
MOST_LOOKED_AT = 500
"""How many of the newest sessions an id's beginning is compared with."""


def session_named(client: Client, text: str) -> str:
    """The whole id. `last`: of the newest session that you may see. Raises CliError where several or none fit.

    An id's beginning may be given without `ses_`.
    """
    if FULL.fullmatch(text):
        return text
    if text == LAST:
        newest = next(client.sessions(limit=1), None)
        if newest is None:
            raise CliError("there is no session yet: start one with acta run")
        return newest["session_id"]
    beginning = text.upper().removeprefix(PREFIX.upper())
    known = (one["session_id"] for one in islice(client.sessions(limit=100), MOST_LOOKED_AT))
    fitting = [one for one in known if beginning and one.removeprefix(PREFIX).startswith(beginning)]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        raise CliError("\n  ".join([f"several sessions begin with {one_line(text)}:", *fitting[:10]]))
    raise CliError(
        f"no session of the newest {MOST_LOOKED_AT} has an id that begins with {one_line(text)}: see acta sessions"
    )
