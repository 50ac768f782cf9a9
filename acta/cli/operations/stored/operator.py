"""How a command reaches what a deployment stores: with the AWS credentials of who runs it, and not over its API."""

from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from acta.cli.exit_codes import CliError
from acta.cli.operations.target import environment_named, target
from acta.cli.terminal.text import one_line
from infra.deployed.tenants.stores import Account, NotDeployed, TenantStores
from infra.environments import LOCAL, Environment
from infra.local.credentials import Credentials, NoCredentials
from infra.local.state_directory import DEFAULT_STATE_DIR, NoStack, StateDir
from shared.adapters.aws.errors import AwsRefused
from shared.domain.errors import AwsDenied, PoisonedSession, SchemaUnknown, StoreThrottled, StoreUnavailable


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


@contextmanager
def aws_errors() -> Iterator[None]:
    """What AWS says becomes one line that says what to do. Raises CliError."""
    from botocore.exceptions import BotoCoreError

    try:
        yield
    except NotDeployed as error:
        raise CliError(str(error)) from None
    except AwsDenied as error:
        raise CliError(
            f"AWS refuses it to your credentials ({one_line(str(error), 200)}): docs/operations.md lists what they need"
        ) from None
    except (StoreThrottled, StoreUnavailable) as error:
        raise CliError(
            f"AWS did not answer ({one_line(str(error), 200)}): run the same command again"
        ) from None
    except (PoisonedSession, SchemaUnknown) as error:
        raise CliError(
            f"something that is stored cannot be read ({one_line(str(error), 200)}): is this the deployed release?"
        ) from None
    except (AwsRefused, BotoCoreError) as error:
        raise CliError(f"AWS refused it: {one_line(str(error), 300)}") from None
