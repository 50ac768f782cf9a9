"""What a tool learns about its call: `call: Call` among the parameters of a tool's function. And what goes wrong with
tools. `later()` says that a call is answered later.

ToolError     a tool raises it: the call failed, and the model is told the text
BadTool       a function cannot be a tool; the text says what to change
SecretMissing a tool has asked for a secret that it does not have
FileRefused   a tool has asked for a file that it cannot have (a ToolError: the model is told)
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import NamedTuple, NoReturn, Protocol


class ToolError(Exception):
    """The call failed. The text tells the model why, and what it may try instead.

    Of any other exception the model gets only the type, because its text may quote what nobody should read.
    """


class BadTool(TypeError):
    """A function cannot be a tool. The text names the function and says what to change."""


class SecretMissing(LookupError):
    """The text says where the secret has to be named or set. It says nothing of the secret's value."""


class FileRefused(ToolError):
    """There is no such file, the path cannot be used, or the tool may not do this. The text is for the model."""


class File(NamedTuple):
    """One file of a listing. `path`: as the file tools show it, such as `reports/may.md`."""

    path: str
    bytes: int


class Files(Protocol):
    """Files of the tenant whose session called the tool; those of other tenants cannot be reached.

    Paths are those of the built-in file tools: relative, with `/` between folders. A path that begins with `~/` is a
    private file of the person who started the session; only private sessions have such files.
    """

    def list(self, folder: str = "") -> list[File]:
        """All files under a folder, by path. Raises FileRefused."""

    def read_text(self, path: str) -> str:
        """Raises FileRefused if there is no such file, or if it is not UTF-8."""

    def read_bytes(self, path: str) -> bytes:
        """Raises FileRefused if there is no such file."""

    def write_text(self, path: str, text: str, *, replace: bool = False) -> None:
        """Raises FileRefused if there is a file already and `replace` is False."""

    def write_bytes(self, path: str, data: bytes, *, replace: bool = False) -> None:
        """Raises FileRefused if there is a file already and `replace` is False."""


class NoFiles:
    """The files of a tool that has declared none: every method raises FileRefused."""

    def _undeclared(self, *given: object, **named: object) -> NoReturn:
        raise FileRefused('this tool reaches no files. Its writer has to say @tool(files="read") or "write".')

    list = read_text = read_bytes = write_text = write_bytes = _undeclared


def no_secrets(name: str) -> NoReturn:
    """Raises SecretMissing."""
    raise SecretMissing(
        f'there is no secret {name}. Write secrets = ["{name}"] in the folder\'s tool.toml and deploy it.'
    )


MAX_LATER_SECONDS, MAX_LATER_DEFAULT_CHARS = 30 * 86_400, 10_000
"""Acta's own limits (`acta/engine/tools/tool.py`); a test compares them."""


@dataclass(frozen=True)
class LaterAnswer:
    """What a tool returns whose answer comes later. Make it with `later`."""

    seconds: int | None = None
    default: str | None = None


def later(*, seconds: int | None = None, default: str | None = None) -> LaterAnswer:
    """`return later()`: the work goes on elsewhere, and its result is sent to `call.callback_url`. Until then the
    session waits and costs nothing. Only tools with `@tool(later=…)` may say so.

    `seconds`: how long the result is awaited, at most 30 days; unless said, as the tool declares. `default`: the result
    if none has come by then; without it the call has failed then. Raises ValueError.
    """
    if seconds is not None and (type(seconds) is not int or not 1 <= seconds <= MAX_LATER_SECONDS):
        raise ValueError(f"seconds is a whole number from 1 to {MAX_LATER_SECONDS:,}, not {seconds!r}")
    if default is not None and (not isinstance(default, str) or len(default) > MAX_LATER_DEFAULT_CHARS):
        raise ValueError(f"default is a text of at most {MAX_LATER_DEFAULT_CHARS:,} characters")
    return LaterAnswer(seconds, default)


@dataclass(frozen=True)
class Call:
    """One call of a tool.

    `tenant`, `session_id`: those of the calling session. `user`: the subject of the person who started it. `effect_id`:
    names what this call does outside; a repeated call has the same, so use it as an idempotency key. `rerun`: an
    earlier attempt of this call may have had its effect. `deadline`: nobody waits for the answer after it. `files`: the
    tenant's files, for tools with `files="read"` or `files="write"`. `callback_url`: where the result may be sent
    later, for tools with `later=…`; whoever has it can answer this call, so log it nowhere. `read_secret`: used by
    `secret`.
    """

    tenant: str
    session_id: str
    user: str
    effect_id: str
    deadline: datetime
    rerun: bool = False
    files: Files = field(default_factory=NoFiles)
    read_secret: Callable[[str], str] = no_secrets
    callback_url: str = ""

    @property
    def seconds_left(self) -> float:
        """Seconds until the deadline; never below 0."""
        return max(0.0, (self.deadline - datetime.now(UTC)).total_seconds())

    def secret(self, name: str) -> str:
        """The value of a secret that the folder's `tool.toml` names. Raises SecretMissing."""
        return self.read_secret(name)
