"""From the engine's event to the answer, the folder's description, and what a tool has in hand."""

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, model_serializer

from acta import Call, LaterAnswer, ToolError, later, tool
from acta.engine.tools.tenant.functions import environment_id
from acta.tools.call import FileRefused, SecretMissing
from acta.tools.define import Tool, tool_of
from acta.tools.run import UnknownTool, UnusableResult, answer
from acta.tools.secrets import KEPT_SECONDS, Secrets


class Order(BaseModel):
    number: str
    due: date


def tools(*functions: Callable[..., Any]) -> dict[str, Tool]:
    found = [tool_of(tool(effect="read")(function)) for function in functions]
    return {each.name: each for each in found if each is not None}


def event(name: str, **arguments: Any) -> dict[str, Any]:
    return {
        "tool": name,
        "arguments": arguments,
        "effect_id": "e-1",
        "session_id": "s-1",
        "tenant": "acme",
        "user": "u-1",
        "private": False,
        "rerun": True,
        "deadline": "2999-01-01T00:00:00+00:00",
    }


def test_a_tool_gets_its_arguments_as_the_types_it_names_and_the_call() -> None:
    seen: list[Any] = []

    def look_up(order: Order, call: Call, note: str = "none") -> Order:
        """Looks up."""
        seen.extend([order, call.effect_id, call.rerun, call.seconds_left > 1_000, note])
        return order

    given = {"number": "7", "due": "2026-01-02"}

    assert answer(tools(look_up), event("look_up", order=given)) == {"result": given}
    assert seen == [Order(number="7", due=date(2026, 1, 2)), "e-1", True, True, "none"]


def test_calls_of_async_tools_share_one_event_loop() -> None:
    import asyncio

    seen = []

    async def look_up() -> str:
        """Looks up."""
        await asyncio.sleep(0)
        seen.append(asyncio.get_running_loop())
        return "done"

    known = tools(look_up)

    assert [answer(known, event("look_up")) for _ in range(2)] == [{"result": "done"}] * 2
    assert seen[0] is seen[1]


def test_a_tool_error_is_an_answer_and_any_other_exception_is_not() -> None:
    def fails(how: str) -> str:
        """Fails."""
        raise {"told": ToolError("no such order. Ask for its number."), "silent": ToolError()}.get(
            how, ZeroDivisionError("a secret")
        )

    known = tools(fails)

    assert answer(known, event("fails", how="told")) == {"error": "no such order. Ask for its number."}
    assert answer(known, event("fails", how="silent")) == {"error": "the tool failed without saying why"}
    with pytest.raises(ZeroDivisionError):
        answer(known, event("fails", how="else"))


def test_arguments_that_do_not_fit_are_told_by_field_and_without_their_value() -> None:
    def look_up(order: Order) -> str:
        """Looks up."""
        return ""

    said = answer(tools(look_up), event("look_up", order={"number": "7", "due": "hidden"}))["error"]

    assert said.startswith("these arguments do not fit: order.due: ")
    assert "hidden" not in said


def test_what_a_tool_returns_is_a_text_or_json() -> None:
    class Odd:
        pass

    def gives(what: str) -> Any:
        """Gives."""
        return {
            "none": None,
            "list": [Order(number="7", due=date(2026, 1, 2))],
            "number": float("nan"),
            "numbers": [float("inf"), Measured(value=float("-inf")), Weighed(float("nan"))],
            "digits": [Decimal("12345678901234567890.1234567890"), Decimal("NaN"), 10**30 + 1, -0.0, 1e22],
            "time": datetime(2026, 1, 2, tzinfo=UTC),
            "odd": Odd(),
        }[what]

    known = tools(gives)

    assert answer(known, event("gives", what="none")) == {"result": None}
    assert answer(known, event("gives", what="list")) == {"result": [{"number": "7", "due": "2026-01-02"}]}
    assert answer(known, event("gives", what="number")) == {"result": "NaN"}
    strange = ["Infinity", {"value": "-Infinity"}, {"value": "NaN"}]
    assert answer(known, event("gives", what="numbers")) == {"result": strange}
    digits = json.dumps(answer(known, event("gives", what="digits"))["result"])
    assert digits == f'["12345678901234567890.1234567890", "NaN", {10**30 + 1}, -0.0, 1e+22]'
    assert answer(known, event("gives", what="time")) == {"result": "2026-01-02T00:00:00Z"}
    told: list[Exception] = []
    said = answer(known, event("gives", what="odd"), tell=told.append)["error"]
    assert said.startswith(
        "gives has run, but returned a Odd, of which no JSON can be made. Its writer has to return"
    )
    assert [type(each) for each in told] == [UnusableResult]


class Measured(BaseModel):
    value: float


@dataclass
class Weighed:
    value: float


class Listing(BaseModel):
    names: list[str]


LATIN, HALF = "caf\udce9.txt", "ok \ud83d"


@pytest.mark.parametrize(
    ("value", "result"),
    [
        (LATIN, "caf\\udce9.txt"),
        (HALF, "ok \\ud83d"),
        ("\ud83d\ude00", "😀"),
        ({LATIN: 1, "caf\udce8.txt": [HALF]}, {"caf\\udce9.txt": 1, "caf\\udce8.txt": ["ok \\ud83d"]}),
        (({"a": {HALF: None}},), [{"a": {"ok \\ud83d": None}}]),
        (Listing(names=[LATIN]), {"names": ["caf\\udce9.txt"]}),
        (Path(LATIN), "caf\\udce9.txt"),
        ("a\u2028b\r\n\0 ", "a\u2028b\r\n\0 "),
    ],
)
def test_an_answer_is_valid_unicode_in_values_names_and_errors_and_otherwise_as_it_was(
    value: Any, result: Any
) -> None:
    def gives() -> Any:
        """Gives."""
        return value

    def fails() -> Any:
        """Fails."""
        raise ToolError(value)

    assert answer(tools(gives), event("gives")) == {"result": result}
    json.dumps(answer(tools(fails), event("fails")), ensure_ascii=False).encode()


def nested(levels: int) -> Any:
    value: Any = []
    for _ in range(levels):
        value = [value]
    return value


RING: list[Any] = []
RING.append(RING)


class Broken(BaseModel):
    @model_serializer
    def refuse(self) -> Any:
        raise KeyError("no")


@pytest.mark.parametrize("value", [nested(90_000), RING, Broken(), b"\xff", [10**5_000]])
def test_a_result_of_which_no_json_can_be_made_is_told_as_that_and_the_function_has_run(value: Any) -> None:
    def gives() -> Any:
        """Gives."""
        return value

    assert answer(tools(gives), event("gives"))["error"].startswith("gives has run, but returned a ")


def test_a_missing_secret_is_told_with_what_to_do() -> None:
    def pay(call: Call) -> str:
        """Pays."""
        return call.secret("payments")

    said = answer(tools(pay), event("pay"))["error"]

    assert (
        said
        == 'there is no secret payments. Write secrets = ["payments"] in the folder\'s tool.toml and deploy it.'
    )


def test_a_tool_that_the_folder_does_not_have_is_no_answer() -> None:
    with pytest.raises(UnknownTool):
        answer({}, event("gone"))


def test_after_the_deadline_no_second_is_left(example_call: Call) -> None:
    late = datetime.now(UTC) - timedelta(seconds=5)

    assert Call("acme", "s", "u", "e", late).seconds_left == 0


def test_files_and_secrets_that_nobody_declared_say_where_to_declare_them(example_call: Call) -> None:
    with pytest.raises(FileRefused, match=r'@tool\(files="read"\)'):
        example_call.files.read_text("a.md")
    with pytest.raises(SecretMissing, match=r"tool\.toml"):
        example_call.secret("key")


class SecretsManager:
    def __init__(self) -> None:
        self.values = {"acta/dev/tool-orders/key": "first"}
        self.asked = 0
        self.says = "ResourceNotFoundException"

    class exceptions:  # noqa: N801
        class ClientError(Exception):
            def __init__(self, code: str) -> None:
                self.response = {"Error": {"Code": code}}

    def get_secret_value(self, SecretId: str) -> dict[str, str]:  # noqa: N803
        self.asked += 1
        if SecretId not in self.values:
            raise self.exceptions.ClientError(self.says)
        return {"SecretString": self.values[SecretId]}


def test_a_secret_is_read_once_a_minute() -> None:
    now = [0.0]
    manager = SecretsManager()
    names = {"key": "acta/dev/tool-orders/key", "unset": "acta/dev/tool-orders/unset"}
    secrets = Secrets({"ACTA_TOOL_SECRETS": json.dumps(names)}, lambda: manager, lambda: now[0])

    assert [secrets.read("key"), secrets.read("key")] == ["first", "first"]
    manager.values["acta/dev/tool-orders/key"] = "second"
    assert secrets.read("key") == "first"
    now[0] = KEPT_SECONDS
    assert secrets.read("key") == "second"
    assert manager.asked == 2
    for manager.says in ("ResourceNotFoundException", "AccessDeniedException"):
        with pytest.raises(SecretMissing, match=r"tool-orders/unset has no value\. An operator sets one"):
            secrets.read("unset")
    manager.says = "InternalServiceError"
    with pytest.raises(manager.exceptions.ClientError):
        secrets.read("unset")
    with pytest.raises(SecretMissing, match=r'Write secrets = \["other"\]'):
        secrets.read("other")


def described(folder: Path, source: str | None) -> Any:
    if source is not None:
        (folder / "tools.py").write_text(source)
    ran = subprocess.run(
        [sys.executable, "-m", "acta.tools.describe", str(folder)], capture_output=True, text=True, check=True
    )
    return json.loads(ran.stdout)


GOOD = '''
from acta import tool
print("loaded")

@tool(effect="read")
def find(order_id: str) -> str:
    """Finds."""
    return order_id
'''


def test_a_folder_is_described_as_json_whatever_it_prints(tmp_path: Path) -> None:
    assert [each["name"] for each in described(tmp_path, GOOD)["tools"]] == ["find"]


@pytest.mark.parametrize(
    ("source", "says"),
    [
        (None, "there is no tools.py"),
        ("x = 1\n", "tools.py has no tool"),
        ("\nimport nothing_like_it\n", "tools.py line 2: ModuleNotFoundError: No module named"),
        ("def (\n", "tools.py: SyntaxError"),
        (GOOD.replace('"""Finds."""', ""), "tools.py line 5: find: it has no docstring"),
        (
            "import sys\nsys.exit(2)\n",
            "tools.py line 2: importing it ends the process (SystemExit). A module of tools only defines them",
        ),
        (
            "import threading\nthreading.Thread(target=threading.Event().wait).start()\n",
            "tools.py has no tool",
        ),
    ],
)
def test_a_folder_that_cannot_be_read_says_where_and_why(
    tmp_path: Path, source: str | None, says: str
) -> None:
    assert described(tmp_path, source)["error"].startswith(says)


def test_an_import_that_hangs_ends_and_says_where_it_was(tmp_path: Path) -> None:
    (tmp_path / "tools.py").write_text("import threading\n\nthreading.Event().wait()\n")
    code = f"import pathlib; from acta.tools.describe import main; main(pathlib.Path({str(tmp_path)!r}), 0.5)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(ran.stdout)["error"].startswith(
        "tools.py line 3: importing it takes more than 20 seconds."
    )


def test_a_tool_is_loaded_without_the_client_the_engine_and_the_sdk_of_aws() -> None:
    code = "import sys, acta.tools.describe, acta.tools.log, acta.tools.run, acta.tools.secrets; print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    loaded = {name.split(".")[0] for name in ran.stdout.split()}

    assert loaded & {"acta.engine", "acta.infra", "acta.functions", "boto3", "httpx2", "click"} == set()
    assert not any(name.startswith(("acta.client", "acta.cli")) for name in ran.stdout.split())


@pytest.mark.parametrize(
    ("environment", "variables", "runs"),
    [
        (environment_id("acme", None), {}, True),
        (environment_id("globex", None), {}, False),
        (environment_id("acme", "u-1"), {}, False),
        (None, {}, False),
        (None, {"ACTA_TOOL_PROCESSES": "shared"}, True),
    ],
)
def test_a_call_for_another_environment_is_refused_before_anything_of_the_tool_runs(
    tmp_path: Path, environment: str | None, variables: dict[str, str], runs: bool
) -> None:
    (tmp_path / "tools.py").write_text(
        "from acta import tool\n\n"
        "@tool(effect='read')\ndef look() -> str:\n    'Looks.'\n    print('it ran')\n    return ''\n"
    )
    code = (
        f"import sys; from types import SimpleNamespace; sys.path.insert(0, {str(tmp_path)!r})\n"
        "from acta.tools.handler import handler\n"
        f"handler({event('look')!r}, SimpleNamespace(tenant_id={environment!r}))\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=variables, check=False
    )

    assert ("it ran" in ran.stdout) == (ran.returncode == 0) == runs
    assert ("WrongEnvironment" in ran.stdout) != runs


def test_a_tool_says_that_its_answer_comes_later_and_where_it_is_sent() -> None:
    urls: list[str] = []

    @tool(effect="read", later=60)
    def build(call: Call) -> LaterAnswer:
        """Builds."""
        urls.append(call.callback_url)
        return later(seconds=30, default="none \ud83d")

    found = tool_of(build)
    assert found is not None
    given = {**event("build"), "callback_url": "https://acta.test/v1/callbacks/t"}
    assert answer({"build": found}, given) == {"later": {"seconds": 30, "default": "none \\ud83d"}}
    assert urls == ["https://acta.test/v1/callbacks/t"]


def test_a_tool_that_does_not_declare_it_cannot_answer_later() -> None:
    def build() -> LaterAnswer:
        """Builds."""
        return later()

    said = answer(tools(build), event("build"))["error"]
    assert "@tool(later=SECONDS)" in said


@pytest.mark.parametrize("given", [{"seconds": 0}, {"seconds": 1.5}, {"seconds": 2_592_001}, {"default": 7}])
def test_what_cannot_be_awaited_is_refused_where_it_is_written(given: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="is a"):
        later(**given)
