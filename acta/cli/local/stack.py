"""A local stack for as long as a command runs; its errors become the command's."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from acta.cli.exit_codes import CliError
from acta.cli.local.progress import progress_on
from acta.cli.terminal.text import one_line
from infra.local.cdk import CommandFailed, ToolMissing
from infra.local.stack import LocalStack, StackFailed, lost_since
from infra.local.state_directory import StateInUse
from local_aws.emulator_process import EmulatorFailed
from local_aws.reverse_proxy import PortTaken
from shared.adapters.llm.model_catalogue import DEFAULT_MODELS
from shared.settings import SettingsError


@contextmanager
def started_stack(state_dir: Path, port: int | None, *, preferred: int | None = None) -> Iterator[LocalStack]:
    """A running stack, stopped at the end whatever happens. Progress goes to standard error.

    `port`: of the API; None: that of last time, else `preferred`, else a free one. Raises CliError where the stack
    does not start.
    """
    try:
        stack = LocalStack(state_dir, port=port, preferred_port=preferred, environ=os.environ)
    except SettingsError as error:
        raise CliError(one_line(str(error), 400)) from None
    for name in stack.config.unknown:
        print(f"acta: nothing reads {name}; is it misspelt?", file=sys.stderr)
    try:
        with progress_on(sys.stderr) as progress:
            stack.progress = progress
            stack.start()
    except (ToolMissing, PortTaken, StateInUse, StackFailed) as error:
        raise CliError(str(error)) from None
    except OSError as error:
        raise CliError(f"{state_dir}: {error.strerror or error}") from None
    except (CommandFailed, EmulatorFailed) as error:
        raise CliError(
            f"the local stack did not start: {error}\n(the whole output: {stack.state.log})"
        ) from None
    if stack.moved_from is not None:
        print(
            f"acta: port {stack.moved_from} of last time is taken, so the API moved to {stack.url}; "
            "tokens issued before are void: get new ones with acta token",
            file=sys.stderr,
        )
    if stack.restored_from is not None:
        print(
            f"acta: the local AWS did not end in order last time: {lost_since(stack.restored_from)}",
            file=sys.stderr,
        )
    try:
        yield stack
    finally:
        stack.stop()


def model_line(stack: LocalStack) -> str:
    """The provider and the model that answer."""
    if stack.config.provider == "offline":
        return (
            "offline: no LLM is used, rules play the model (set ANTHROPIC_API_KEY or OPENAI_API_KEY for one)"
        )
    return f"{stack.config.provider}, {stack.config.model or DEFAULT_MODELS[stack.config.provider]}"
