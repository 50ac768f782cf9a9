"""What AWS answers to an operator's command becomes one line that says what to do."""

from collections.abc import Iterator
from contextlib import contextmanager

from acta.cli.exit_codes import CliError
from acta.cli.terminal.text import one_line

OPERATIONS, SIGN_IN = "docs/operations.md", "docs/sign-in.md"
"""Pages that list what an operator's credentials need."""


@contextmanager
def aws_errors(page: str = OPERATIONS) -> Iterator[None]:
    """`page`: the one that lists what the command's credentials need. Raises CliError."""
    from botocore.exceptions import BotoCoreError

    from acta_engine.aws.errors import AwsRefused
    from acta_engine.errors import (
        AwsDenied,
        PoisonedSession,
        SchemaUnknown,
        StoreThrottled,
        StoreUnavailable,
    )
    from acta_infra.deployed.stacks import OutputsUnknown

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
