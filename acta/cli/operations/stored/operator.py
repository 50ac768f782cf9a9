"""How a command reaches what a deployment stores: with the AWS credentials of who runs it, and not over its API."""

from argparse import Namespace
from pathlib import Path

from acta.cli.aws_errors import aws_errors
from acta.cli.exit_codes import CliError
from acta.cli.operations.target import environment_named, target
from infra.deployed.tenants.stores import Account, TenantStores
from infra.environments import LOCAL, Environment
from infra.local.credentials import Credentials, NoCredentials
from infra.local.state_directory import DEFAULT_STATE_DIR, NoStack, StateDir


def account_of(arguments: Namespace) -> Account:
    """Of --env, or the local stack's. Raises CliError."""
    if arguments.env:
        chosen = target(arguments.env)
        return Account(chosen.environment.name, {"region_name": chosen.caller.region})
    try:
        state = StateDir(Path(arguments.state or DEFAULT_STATE_DIR))
        running, credentials = state.running(), Credentials.from_file(state.credentials)
    except (NoStack, NoCredentials) as error:
        raise CliError(f"{error}, or give --env") from None
    return Account.local(running.aws_endpoint_url, credentials.as_arguments())


def environment_of(arguments: Namespace) -> Environment:
    """As its entry says. Raises CliError."""
    return environment_named(arguments.env) if arguments.env else LOCAL


def stores_of(arguments: Namespace) -> TenantStores:
    """Raises CliError."""
    with aws_errors():
        return account_of(arguments).stores()
