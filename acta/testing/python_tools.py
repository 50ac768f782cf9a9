"""Python tools of a test: called in this process, as their Lambda would call them.

tools = load(__file__)  # tools.py beside the test
assert call(tools.lookup_order, {"order_id": "7"}) == {"state": "sent"}
"""

import importlib.util
import inspect
import io
import json
import logging
import sys
from collections.abc import Callable, Coroutine, Iterable, Mapping, MutableMapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import ModuleType
from typing import Any, get_type_hints

from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic.errors import PydanticUserError

from acta.embedded.objects import SqliteObjects
from acta.embedded.table import SqliteTable
from acta.engine.files.s3 import S3FileStore
from acta.engine.files.store import FileExists, FileMissing, FileStore
from acta.engine.tools.registry import from_spec
from acta.engine.tools.tenant.definition import Unusable
from acta.engine.tools.tool import EVERY_TENANT, ToolSpec
from acta.tools.call import BadTool, Call, File, Files, LaterAnswer, NoFiles, SecretMissing
from acta.tools.define import MODULE, Tool, tool_of, tools_in
from acta.tools.files import CheckedFiles
from acta.tools.run import Event, answer, require_own_environment, run, to_later, to_result

TENANT, USER = "acme", "ann"
ENVIRONMENT, FOLDER = "test", "tools"
SECONDS = 60.0
CALLBACK_URL = "https://acta.test/v1/callbacks/test"
LOG = logging.getLogger("acta.testing")
"""Gets the traceback of a tool that raised; pytest shows it where the test fails."""


class WrongResult(AssertionError):
    """A tool returned something else than its annotation says. Only tests check this. In a Lambda the call has had its
    effect, and a failure would say that it had not.
    """


Function = Callable[..., Any]
Tools = ModuleType | Sequence[Function | ModuleType]
"""Functions with `@tool`, or modules that have some."""


def load(beside: str | Path) -> ModuleType:
    """Imports `tools.py` of a folder of tools. `beside`: the folder, or a file in it such as a test's `__file__`.

    Each call imports the module again, with what it imports from the folder, so that tests of several folders do not
    get in one another's way. Raises FileNotFoundError, and BadTool if the module ends the process.
    """
    place = Path(beside).resolve()
    folder = place if place.is_dir() else place.parent
    path = folder / f"{MODULE}.py"
    if not path.is_file():
        raise FileNotFoundError(f"{folder} has no {MODULE}.py")
    _forget_modules_in(folder)
    name = f"{MODULE}_of_{folder.name}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    sys.path.insert(0, str(folder))
    try:
        spec.loader.exec_module(module)
    except SystemExit:
        raise BadTool(f"{path}: importing it ends the process (SystemExit). Take that out.") from None
    finally:
        sys.path.remove(str(folder))
        _forget_modules_in(folder, but=name)
    return module


def _forget_modules_in(folder: Path, but: str = "") -> None:
    """Forgets modules that the folder's files define, except tests: another folder may have some of the same names."""
    for name, module in list(sys.modules.items()):
        file = Path(getattr(module, "__file__", None) or "")
        is_test = file.name.startswith("test_") or file.name == "conftest.py"
        if name != but and file.parent == folder and not is_test:
            del sys.modules[name]


def call(
    function: Function,
    arguments: Mapping[str, Any] | None = None,
    /,
    *,
    files: MutableMapping[str, str | bytes] | None = None,
    secrets: Mapping[str, str] | None = None,
    user: str = USER,
    tenant: str = TENANT,
    session_id: str = "ses_test",
    effect_id: str = "eff_test",
    rerun: bool = False,
    seconds: float = SECONDS,
) -> Any:
    """Calls one tool as an agent would, and returns what the agent gets: a text, or JSON. A tool that answers later
    returns its `LaterAnswer`, and its `call.callback_url` is `https://acta.test/v1/callbacks/test`.

    `arguments`: as JSON. `files`: the tenant's, by path; afterwards it also has what the tool wrote. `secrets`: by
    name. `seconds`: until the deadline. Raises ToolError if the arguments do not fit or the tool raises it, WrongResult
    if the tool returns something else than its annotation says, and whatever else the tool raises.
    """
    made = _made(function)
    if not isinstance(arguments or {}, Mapping):
        raise TypeError(
            "a tool's arguments are a mapping such as "
            f"{json.dumps(dict.fromkeys(made.parameters.schema['properties'], '…'), ensure_ascii=False)}, "
            f"not of the type {type(arguments).__name__}"
        )
    made = checking_its_result(made)
    store = S3FileStore("files", SqliteObjects(SqliteTable(None)))
    put_files(store, tenant, user, files or {})
    about = Call(
        tenant=tenant,
        session_id=session_id,
        user=user,
        effect_id=effect_id,
        deadline=datetime.now(UTC) + timedelta(seconds=seconds),
        rerun=rerun,
        files=files_for(made, store, tenant, user, effect_id),
        read_secret=_reader(secrets or {}),
        callback_url="" if made.later is None else CALLBACK_URL,
    )
    try:
        returned = run(made, arguments or {}, about)
        return (
            LaterAnswer(**to_later(made, returned))
            if isinstance(returned, LaterAnswer)
            else to_result(made, returned)
        )
    finally:
        if files is not None:
            files.clear()
            files.update(_all_files(store, tenant, user))


def tools_of(given: Tools) -> dict[str, Tool]:
    """The tools by name. Raises TypeError for a function that is no tool, and BadTool."""
    found: dict[str, Tool] = {}
    for each in given if isinstance(given, Sequence) else (given,):
        if isinstance(each, ModuleType):
            found |= tools_in(each)
            continue
        made = _made(each)
        found[made.name] = made
    return found


def _made(function: Function) -> Tool:
    """Raises TypeError."""
    made = tool_of(function)
    if made is None:
        raise TypeError(f"{getattr(function, '__name__', function)!r} is no tool: write @tool(…) above it")
    return made


def as_offered(tools: Mapping[str, Tool]) -> Callable[[str], Mapping[str, ToolSpec]]:
    """The tools that a tenant's agents may be given, for any tenant: the environment `test` has one folder of tools.
    Raises BadTool for a tool that Acta cannot offer.
    """
    offered: dict[str, ToolSpec] = {}
    for name, made in tools.items():
        try:
            offered[name] = from_spec(made.to_spec(), FOLDER, ENVIRONMENT, (EVERY_TENANT,))
        except Unusable as unusable:
            raise BadTool(f"{name}: {' '.join(unusable.problems['input_schema'])}") from None
    return lambda tenant: offered


class CalledInProcess:
    """Takes the place of the engine's Lambda client: an invocation calls the function in this process, which, unlike a
    Lambda's, serves every tenant of a test.
    """

    def __init__(
        self, tools: Mapping[str, Tool], files: Callable[[Tool, Event], Files], secrets: Mapping[str, str]
    ) -> None:
        """`files`: gives the files that a call reaches."""
        self._tools = {name: checking_its_result(made) for name, made in tools.items()}
        self._files = files
        self._read_secret = _reader(secrets)

    def invoke(self, *, Payload: bytes, TenantId: str, **_: str) -> dict[str, Any]:  # noqa: N803, botocore's names
        event = json.loads(Payload)
        require_own_environment(event, TenantId)
        files = self._files(self._tools[event["tool"]], event)
        try:
            said = answer(self._tools, event, files=files, read_secret=self._read_secret)
        except WrongResult:
            raise
        except Exception as error:
            LOG.exception("the tool %s raised", event["tool"])
            raised = {"errorType": type(error).__name__, "errorMessage": str(error)}
            return {"FunctionError": "Unhandled", "Payload": io.BytesIO(json.dumps(raised).encode())}
        return {"Payload": io.BytesIO(json.dumps(said).encode())}


def checking_its_result(made: Tool) -> Tool:
    """A tool that raises WrongResult if the function returns something else than its annotation says."""
    said = get_type_hints(made.function, include_extras=True).get("return", Any)
    adapter = _adapter(said)
    if adapter is None:
        return made

    def check(returned: Any) -> Any:
        try:
            adapter.validate_python(returned, strict=True)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            place = "".join(f"[{part!r}]" for part in first["loc"])
            raise WrongResult(
                f"{made.name} says that it returns {inspect.formatannotation(said)}, and returned {returned!r}: "
                f"{f'at {place} ' if place else ''}{first['msg']}. Return that, or change the annotation."
            ) from None
        return returned

    async def check_later(waiting: Coroutine[Any, Any, Any]) -> Any:
        return check(await waiting)

    def function(**given: Any) -> Any:
        returned = made.function(**given)
        return check_later(returned) if inspect.iscoroutine(returned) else check(returned)

    return replace(made, function=function)


def _adapter(annotation: Any) -> TypeAdapter[Any] | None:
    """Checks values of this type. None if pydantic does not know the type, so that nothing is checked."""
    if annotation is Any:
        return None
    for config in (ConfigDict(arbitrary_types_allowed=True), None):  # models have a config of their own
        try:
            return TypeAdapter(annotation, config=config)
        except PydanticUserError:
            continue
    return None


def files_for(made: Tool, store: FileStore, tenant: str, user: str | None, writer: str) -> Files:
    """The files that the tool's declaration lets it reach."""
    if made.files is None:
        return NoFiles()
    return ToolFiles(store, tenant, user, writer, writes=made.files == "write")


def put_files(store: FileStore, tenant: str, user: str, files: Mapping[str, str | bytes]) -> None:
    for path, content in files.items():
        data = content.encode() if isinstance(content, str) else content
        store.seen_by(user).write(tenant, path, data)


def _all_files(store: FileStore, tenant: str, user: str) -> dict[str, str | bytes]:
    seen = store.seen_by(user)
    listed = [*seen.list(tenant, "", MOST_FILES).files, *seen.list(tenant, "~/", MOST_FILES).files]
    return {each.path: _text_or_bytes(seen.read(tenant, each.path)) for each in listed}


def _text_or_bytes(data: bytes) -> str | bytes:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data


def _reader(secrets: Mapping[str, str]) -> Callable[[str], str]:
    def read(name: str) -> str:
        if name not in secrets:
            raise SecretMissing(f"there is no secret {name}: give the test one, secrets={{{name!r}: …}}")
        return secrets[name]

    return read


MOST_FILES = 1_000
MOST_BYTES = 4_194_304
"""`max_file_bytes` of an environment that does not set it."""


class ToolFiles(CheckedFiles):
    """`user`: whose private files it reaches; None: it reaches no private files."""

    def __init__(self, store: FileStore, tenant: str, user: str | None, writer: str, *, writes: bool) -> None:
        super().__init__(writer, writes=writes, private=user is not None, max_bytes=MOST_BYTES)
        self._files = store.seen_by(user)
        self._tenant = tenant

    def _listed(self, prefix: str) -> Iterable[File]:
        found = self._files.list(self._tenant, prefix, MOST_FILES).files
        return (File(each.path, each.bytes) for each in found)

    def _stored(self, path: str) -> bytes | None:
        try:
            return self._files.read(self._tenant, path)
        except FileMissing:
            return None

    def _store(self, path: str, data: bytes, write_id: str, *, replace: bool) -> bool:
        if replace:
            self._files.write(self._tenant, path, data)
            return True
        try:
            self._files.create(self._tenant, path, data, write_id)
        except FileExists:
            return False
        return True
