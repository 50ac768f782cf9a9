"""The environment that a command with `--env` is about, and the AWS account behind it. Errors that AWS answers to an
operator's command become one line that says what to do.
"""

import os
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from acta.cli.exit_codes import CliError
from acta.cli.terminal.text import cli_error, echo, note, one_line
from acta.infra.deployed import account
from acta.infra.deployed.account import Account, AccountUnknown, CallerIdentity, WrongAccount, caller
from acta.infra.environments import (
    LOCAL,
    Environment,
    UnusableValue,
    every_environment,
    operators_file,
    select,
)
from acta.infra.local.state_directory import DEFAULT_STATE_DIR, LOG, NoStack, StateDir
from acta.local_aws.credentials import Credentials, NoCredentials
from acta.repository import FILE, repository

LOOPBACK = ("http://127.0.0.1:", "http://localhost:")


class OperatorTarget(NamedTuple):
    environment: Environment
    caller: CallerIdentity

    @property
    def environ(self) -> dict[str, str]:
        """The variables of this process, with the environment's region."""
        return {**os.environ, "AWS_REGION": self.caller.region, "AWS_DEFAULT_REGION": self.caller.region}

    @property
    def account(self) -> Account:
        return Account(self.environment.name, {"region_name": self.caller.region})


def environment_named(name: str) -> Environment:
    """An environment of `acta/infra/environments.py` or of the operator's own file. Raises CliError."""
    with cli_error(UnusableValue, cut=500):
        among = every_environment(os.environ)
        # a local environment can be deployed only to an emulator, whose address the shell then has
        asks_local_aws = os.environ.get("AWS_ENDPOINT_URL", "").startswith(LOOPBACK)
        in_aws = {key: each for key, each in among.items() if not each.is_local or asks_local_aws}
        if name not in in_aws:
            raise CliError(
                f"no environment is called {one_line(name)}: there are {', '.join(in_aws)}; a new one is an entry in "
                f"{operators_file(os.environ) or FILE} (docs/deploy.md)"
            )
        chosen = select(name, in_aws)
    return replace(chosen, tools_dir=str((repository() or Path.cwd()) / chosen.tools_dir))


def target(name: str, client: Any = None) -> OperatorTarget:
    """Prints on standard error whose account it is. `client`: a botocore STS client; None: the caller's.

    Raises CliError if there are no credentials, or if they belong to another account than the environment's.
    """
    environment = environment_named(name)
    if client is None:
        require_credentials()
    unknown = "AWS did not say whose credentials these are ({}): sign in again, or set AWS_REGION"
    with cli_error(WrongAccount), cli_error(AccountUnknown, words=unknown, cut=300):
        found = caller(environment, client)
    note(f"environment {environment.name}: account {found.account}, region {found.region}, as {found.arn}")
    return OperatorTarget(environment, found)


def not_deployed(chosen: OperatorTarget) -> CliError:
    name, found = chosen.environment.name, chosen.caller
    return CliError(
        f"environment {name} is not deployed in account {found.account}, {found.region}: acta deploy --env {name}"
    )


def account_of(arguments: Namespace) -> Account:
    """The account of --env, or of the local stack of --state. Raises CliError."""
    return target(arguments.env).account if arguments.env else local_account(arguments)


def local_account(arguments: Namespace) -> Account:
    """The account of the local stack of --state. Raises CliError."""
    with cli_error(NoStack, NoCredentials, words="{}, or give --env"):
        state = StateDir(Path(arguments.state or DEFAULT_STATE_DIR))
        running = state.running()
        if not running.aws_endpoint_url:
            raise CliError(
                f"acta dev serves {state.path}, and there is no AWS behind it: use acta up for this command"
            )
        credentials = Credentials.from_file(state.credentials)
    return Account.local(running.aws_endpoint_url, credentials.as_arguments())


def log_of_dev(arguments: Namespace) -> Path | None:
    """The log of `acta dev`. None: it does not serve the directory of --state."""
    state = StateDir(Path(arguments.state or DEFAULT_STATE_DIR))
    running = state.read()
    is_dev = running is not None and not running.aws_endpoint_url and state.is_served()
    return state.path / LOG if is_dev else None


def environment_of(arguments: Namespace) -> Environment:
    """The environment of --env as its definition says, or the local one. Raises CliError."""
    return environment_named(arguments.env) if arguments.env else LOCAL


def warn_unpinned(chosen: OperatorTarget) -> None:
    """Warns if the environment names no account: then nothing keeps a command out of the wrong account."""
    if chosen.environment.account is not None or chosen.environment.is_local:
        return
    echo(
        f"Environment {chosen.environment.name} is pinned to no account. In {operators_file(os.environ) or FILE}\n"
        "give it\n"
        f'    account="{chosen.caller.account}", region="{chosen.caller.region}"\n'
        "and it is never deployed anywhere else."
    )


def require_credentials() -> None:
    """Raises CliError if there are no credentials. This is checked first, because bundling takes minutes."""
    with cli_error(account.CredentialsMissing, cut=400):
        account.require_credentials()


OPERATIONS, SIGN_IN = "docs/operations.md", "docs/sign-in.md"
"""The pages that list which permissions an operator's credentials need."""


@contextmanager
def aws_errors(page: str = OPERATIONS) -> Iterator[None]:
    """`page`: the page that lists the permissions that this command's credentials need. Raises CliError."""
    from botocore.exceptions import BotoCoreError

    from acta.engine.aws.errors import AwsRefused
    from acta.engine.errors import (
        AwsDenied,
        PoisonedSession,
        SchemaUnknown,
        StoreThrottled,
        StoreUnavailable,
    )
    from acta.infra.deployed.stacks import OutputsUnknown

    try:
        yield
    except OutputsUnknown as error:
        raise CliError(one_line(str(error), 400), "NOT_DEPLOYED") from None
    except AwsDenied as error:
        raise CliError(
            f"AWS refuses it to your credentials ({one_line(str(error), 200)}): {page} lists what they need",
            "AWS_DENIED",
        ) from None
    except (StoreThrottled, StoreUnavailable) as error:
        raise CliError(
            f"AWS did not answer ({one_line(str(error), 200)}): run the same command again", "AWS_UNAVAILABLE"
        ) from None
    except (PoisonedSession, SchemaUnknown) as error:
        raise CliError(
            f"something that is stored cannot be read ({one_line(str(error), 200)}): is this the deployed release?",
            "UNREADABLE",
        ) from None
    except (AwsRefused, BotoCoreError) as error:
        raise CliError(f"AWS refused it: {one_line(str(error), 300)}", "AWS_REFUSED") from None
