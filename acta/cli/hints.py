"""The commands that decide what a session waits for, ready to be typed: as `acta` was called, to where it spoke."""

import os
import shlex
import shutil
import sys
from argparse import Namespace
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from acta.cli.text import visible

INPUTS = {
    "answer": '{"text": "TEXT"}',
    "modify": '{"input": {}}',
    "raise": '{"token_budget": N}',
    "record": '{"result": "TEXT"}',
}
"""What an option needs besides its name (design §8); capitals are for the person to replace."""


@dataclass(frozen=True)
class Invocation:
    """`options`: which deployment, as the person gave it. A token is never repeated, only its place."""

    program: str = "acta"
    options: tuple[str, ...] = ()

    @classmethod
    def from_arguments(cls, arguments: Namespace, called: str | None = None) -> "Invocation":
        options: list[str] = []
        for name in ("api_url", "state"):
            value = getattr(arguments, name, None)
            if value:
                options += [f"--{name.replace('_', '-')}", str(value)]
        if getattr(arguments, "token", None):
            options += ["--token", "TOKEN"]
        return cls(program(sys.argv[0] if called is None else called), tuple(options))

    def line(self, *words: str) -> str:
        return visible(shlex.join([self.program, *words, *self.options]), keep_newlines=False)


def program(called: str) -> str:
    """`acta` where that finds this very program, else the path it was called by."""
    if Path(called).name != "acta":
        return "acta"
    found = shutil.which("acta")
    try:
        return "acta" if found and os.path.samefile(found, called) else called
    except OSError:
        return called


def deciding_lines(invocation: Invocation, session_id: str, intervention: Mapping[str, Any]) -> Iterator[str]:
    """One command per option of the intervention."""
    identity = str(intervention.get("intervention_id"))
    for option in intervention.get("options") or []:
        yield deciding_line(invocation, session_id, identity, str(option))


def deciding_line(invocation: Invocation, session_id: str, identity: str, option: str) -> str:
    if option in ("approve", "reject", "finish"):
        return invocation.line(option, session_id, identity)
    if option == "raise":
        return invocation.line(option, session_id, identity, "--token-budget", "N")
    if option == "answer":
        return invocation.line(option, session_id, "TEXT")
    given = ["--input", INPUTS[option]] if option in INPUTS else []
    return invocation.line("resolve", session_id, identity, option, *given)
