"""Which deployment a command talks to, and as whom."""

import os
from argparse import Namespace
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from acta.cli.errors import CliError
from acta.cli.text import one_line
from infra.local.state import DEFAULT_STATE_DIR, NoStack, StateDir

if TYPE_CHECKING:
    from infra.local.issuer import Role

LOCAL_TENANT = "demo"
LOCAL_USER = "you"


@dataclass(frozen=True)
class Target:
    api_url: str
    token: str

    @classmethod
    def from_arguments(
        cls, arguments: Namespace, environ: Mapping[str, str] = os.environ, role: "Role" = "member"
    ) -> "Target":
        """--api-url and --token, else the environment, else the local stack of --state, where one has the `role`
        the command needs. Raises CliError.
        """
        url = arguments.api_url or (None if arguments.state else environ.get("ACTA_API_URL"))
        token = arguments.token or (None if arguments.state else environ.get("ACTA_TOKEN"))
        if url and token:
            return cls(checked_url(url), checked_token(token))
        if url:
            raise CliError(f"a token is missing for {url}: give --token or set ACTA_TOKEN")
        return cls.of_local_stack(Path(arguments.state or DEFAULT_STATE_DIR), token, role)

    @classmethod
    def of_local_stack(cls, state_dir: Path, token: str | None = None, role: "Role" = "member") -> "Target":
        from infra.local.issuer import Issuer

        state = StateDir(state_dir)
        try:
            running = state.running()
        except NoStack as error:
            raise CliError(f"{error}, or give --api-url and --token") from None
        if token is None:
            token = Issuer.from_state(state.path, running.api_url).issue_token(LOCAL_TENANT, LOCAL_USER, role)
        return cls(running.api_url, checked_token(token))


def checked_url(url: str) -> str:
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 80) > 0
    except ValueError:
        usable = False
    if not usable or not url.isprintable() or " " in url:
        raise CliError(f"the API's URL must be an http or https URL, not {one_line(url)}")
    return url


def checked_token(token: str) -> str:
    token = token.strip()
    if not token.isascii() or not token.isprintable() or " " in token or not token:
        raise CliError("the token is malformed: a token is one word of letters, digits, dots, dashes")
    return token
