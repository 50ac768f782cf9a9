"""What `acta up` and `acta dev` print when they are ready, and what they put into a new stack.

What speaks HTTP is imported where it is used: `acta dev` prints its addresses before that.
"""

import json
from argparse import Namespace
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from acta.cli.connection import Invocation
from acta.cli.local_stack import LOCAL_TENANT, LOCAL_USER
from acta.cli.terminal.text import note, visible
from acta.engine.models.providers import WITH_KEY
from acta.infra.local.config import LocalConfig
from acta.infra.local.issuer import LocalIssuer, PageLinks
from acta.infra.local.state_directory import StateDir

DEFAULT_PORT = 2282
"""No well-known service uses it; it is what the letters of Acta dial on a telephone."""
SAMPLES = Path(__file__).parent / "samples"


class Served(Protocol):
    """A local Acta that serves."""

    state: StateDir
    config: LocalConfig
    moved_from: int | None
    """The previous port, if another program has it now."""

    @property
    def url(self) -> str: ...

    @property
    def issuer(self) -> LocalIssuer: ...


def put_samples(stack: Served) -> None:
    """Puts a few files into the storage, to try a goal on."""
    from acta.cli.files import put_directory
    from acta.client.api import Client
    from acta.client.deployment import Deployment

    token = stack.issuer.issue_token(LOCAL_TENANT, LOCAL_USER, "member")
    with Client(Deployment(stack.url, token)) as client:
        put_directory(client, str(SAMPLES))


def announce(stack: Served, tools: Sequence[str], line: str, as_json: Mapping[str, str] | None) -> None:
    """Prints how to reach the stack. `line`: what else a person should know of it. `as_json`: prints one line of JSON
    for a script instead, with these members.
    """
    if stack.moved_from is not None:
        note(
            f"acta: port {stack.moved_from} of last time is taken, so the API moved to {stack.url}; "
            "tokens issued before are void: get new ones with acta token"
        )
    issuer = stack.issuer
    token = issuer.issue_token(LOCAL_TENANT, LOCAL_USER, "member")
    if as_json is not None:
        ready = {
            "api_url": stack.url,
            "console_url": page_link(stack),
            "token": token,
            "admin_token": issuer.issue_token(LOCAL_TENANT, "admin", "admin"),
            **as_json,
            "state": str(stack.state.path),
            "provider": stack.config.provider,
        }
        print(json.dumps(ready), flush=True)
        return
    print(f"API    {stack.url}")
    print(f"model  {model_line(stack)}")
    if tools:
        print(visible(f"tools  {', '.join(tools)}"))
    print(f"token  {token}")
    print(f"page   {page_link(stack)}")
    print(line)
    here = Invocation.from_arguments(Namespace(state=str(stack.state.path)))
    print(f"In another terminal: {here.line('run', 'List my files')}")
    print(f"The page's link signs in once, within a minute. Another one: {here.line('console')}")
    print("Ctrl-C stops.", flush=True)


def model_line(stack: Served) -> str:
    """The provider and the model that answer on this stack."""
    if stack.config.provider == "offline":
        keys = " or ".join(each.key_variable for each in WITH_KEY)
        return f"offline: no LLM is used, rules play the model (set {keys} for one)"
    return f"{stack.config.provider}, {stack.config.model or 'the models that agents name'}"


def page_link(stack: Served) -> str:
    """The link signs in an admin, who sees every page. It works once, within a minute."""
    return PageLinks(stack.state.path).make(stack.url, LOCAL_TENANT, LOCAL_USER, ("admin",))


def tell_of_missing_tools(stack: Served, told: set[str]) -> None:
    """Says which agents of the announced tenant name tools that do not exist. `told`: what was said already."""
    from acta.client.api import Client
    from acta.client.deployment import Deployment
    from acta.client.errors import ClientError

    token = stack.issuer.issue_token(LOCAL_TENANT, LOCAL_USER, "member")
    found: set[str] = set()
    with suppress(ClientError), Client(Deployment(stack.url, token), pause=lambda _: None) as client:
        for agent in client.agents.list():
            found |= {f"tools: agent {agent['agent_id']}: {each}" for each in agent["warnings"]}
        for line in sorted(found - told):
            say_of_tools(line)
        told.clear()
        told |= found


def say_of_tools(text: str) -> None:
    """Prints on standard error, because a script reads one line from standard output."""
    note(visible(text))
