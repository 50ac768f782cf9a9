"""Python tools in users' tests: one called by itself, and an agent that uses one."""

import sys
from pathlib import Path

import pytest
from pydantic import BaseModel

from acta import Call, ToolError, tool
from acta.engine.models.offline import OfflineModel
from acta.testing import WrongResult, call, completes, load, run, uses
from acta.testing.in_process import InProcess
from acta.testing.python_tools import tools_of
from acta.tools.call import BadTool, FileRefused, SecretMissing

STATES = {"7": "sent"}


@tool(effect="read")
def lookup_order(order_id: str) -> dict[str, str]:
    """Looks up an order by its number."""
    if order_id not in STATES:
        raise ToolError(f"there is no order {order_id}")
    return {"order_id": order_id, "state": STATES[order_id]}


@tool(effect="idempotent", files="write")
def report(call: Call) -> str:
    """Writes a report about all files."""
    names = ", ".join(each.path for each in call.files.list())
    call.files.write_text("report.md", f"{names}, for {call.user} of {call.tenant}, {call.effect_id}")
    return "Written."


@tool(effect="read", files="read")
async def peek(path: str, call: Call) -> str:
    """Reads a file."""
    call.files.write_text("b.txt", "x") if path == "b.txt" else None
    return call.files.read_text(path)


@tool(effect="read")
def shows_key(call: Call) -> str:
    """Says how long its key is."""
    return str(len(call.secret("desk_key")))


@tool(effect="read")
def divide() -> float:
    """Divides."""
    return 1 / 0


def test_a_tool_is_called_with_json_and_gives_json() -> None:
    assert call(lookup_order, {"order_id": "7"}) == {"order_id": "7", "state": "sent"}


def test_what_a_tool_refuses_is_raised() -> None:
    with pytest.raises(ToolError, match="there is no order 8"):
        call(lookup_order, {"order_id": "8"})
    with pytest.raises(ToolError, match="order_id"):
        call(lookup_order, {})


def test_a_tool_reads_and_writes_the_files_that_it_is_given() -> None:
    files: dict[str, str | bytes] = {"a.txt": "hello", "b.bin": b"\xff"}
    assert call(report, files=files, user="bob", effect_id="eff_1") == "Written."
    assert files == {"a.txt": "hello", "b.bin": b"\xff", "report.md": "a.txt, b.bin, for bob of acme, eff_1"}
    with pytest.raises(FileRefused, match=r"there is a file report\.md already"):
        call(report, files=files, effect_id="eff_2")


def test_a_tool_has_the_access_to_files_that_it_was_declared_with() -> None:
    assert call(peek, {"path": "a.txt"}, files={"a.txt": "hello"}) == "hello"
    for path, said in (
        ("b.txt", "only reads files"),
        ("c.txt", "there is no file c"),
        ("../a", r"a \. or \.\."),
    ):
        with pytest.raises(FileRefused, match=said):
            call(peek, {"path": path})


def test_secrets_are_the_tests_own() -> None:
    assert call(shows_key, secrets={"desk_key": "abc"}) == "3"
    with pytest.raises(SecretMissing, match="desk_key"):
        call(shows_key)


def test_a_function_that_is_no_tool_is_named() -> None:
    with pytest.raises(TypeError, match="'test_secrets_are_the_tests_own' is no tool"):
        call(test_secrets_are_the_tests_own)


def folder(tmp_path: Path, name: str, said: str) -> Path:
    made = tmp_path / name
    made.mkdir()
    (made / "store.py").write_text(f"SAID = {said!r}\n")
    (made / "tools.py").write_text(
        "from acta import tool\nfrom store import SAID\n\n\n"
        '@tool(effect="read")\ndef say() -> str:\n    """Says it."""\n    return SAID\n'
    )
    return made


def test_folders_with_modules_of_the_same_names_do_not_meet(tmp_path: Path) -> None:
    first, second = (load(folder(tmp_path, name, name)) for name in ("one", "two"))
    assert [call(each.say) for each in (first, second, first)] == ["one", "two", "one"]


def test_a_folder_is_named_by_a_test_in_it_and_read_as_it_is_now(tmp_path: Path) -> None:
    made = folder(tmp_path, "one", "before")
    assert call(load(made / "test_one.py").say) == "before"
    (made / "store.py").write_text("SAID = 'now, as it is'\n")
    assert call(load(str(made)).say) == "now, as it is"


def test_a_folder_without_tools_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"has no tools\.py"):
        load(tmp_path)


def test_an_agent_uses_a_python_tool_on_the_real_loop() -> None:
    session = run(
        "Where is order 7?",
        [uses("lookup_order", order_id="7"), completes("It was sent.")],
        tools=[lookup_order],
        agent={"tools": ["lookup_order"]},
    )
    (made,) = session.tool_calls
    assert (made.data, made.ok, session.answer) == ({"order_id": "7", "state": "sent"}, True, "It was sent.")
    assert made.told is not None
    assert made.told.startswith("--- answer (")


def test_what_a_tool_says_of_a_failure_is_told_to_the_model() -> None:
    session = run(
        "Where is order 8?",
        [uses("lookup_order", order_id="8"), completes("I do not know.")],
        tools=sys.modules[__name__],
    )
    (made,) = session.tool_calls
    assert not made.ok
    assert made.told is not None
    assert "there is no order 8" in made.told


def test_a_tool_that_raises_has_failed_and_its_traceback_is_in_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    session = run("Count", [uses("shows_key"), completes("Could not.")], tools=[shows_key])
    (made,) = session.tool_calls
    assert made.told is not None
    assert made.told.startswith("Error: shows_key failed.")
    assert "there is no secret desk_key: give the test one" in made.told
    session = run("Divide", [uses("divide"), completes("Could not.")], tools=[divide])
    (made,) = session.tool_calls
    assert made.told is not None
    assert "ZeroDivisionError" in made.told
    assert "by zero" not in made.told
    assert "division by zero" in caplog.text


def test_a_tool_of_an_agent_has_the_tests_files_and_secrets() -> None:
    approved = run(
        "Report",
        [uses("shows_key"), uses("report"), completes("Done.")],
        tools=[shows_key, report],
        files={"a.txt": "hello"},
        secrets={"desk_key": "abcd"},
    ).approve()
    assert [each.result for each in approved.tool_calls] == ["4", "Written."]
    assert approved.files["report.md"].startswith("a.txt, for ann of acme, ")


def test_a_tool_with_an_effect_waits_for_an_approval() -> None:
    session = run("Report", [uses("report"), completes("Done.")], tools=[report])
    assert [each.type for each in session.interventions] == ["approval_required"]
    assert session.files == {}


@pytest.mark.parametrize(("private", "path"), [(True, "~/plan.md"), (False, "plan.md")])
def test_a_tool_reaches_private_files_in_private_sessions_alone(private: bool, path: str) -> None:
    script = [uses("peek", path="~/plan.md"), completes("Done.")]
    session = run("Read", script, tools=[peek], private=private, files={path: "mine"})
    assert session.tool_calls[0].ok is private


def test_without_a_key_the_stand_in_calls_the_tool_that_the_goal_names() -> None:
    acta = InProcess(OfflineModel(), tools=tools_of([lookup_order]))
    for order, met in (("7", True), ("8", False)):
        asked = f'Use lookup_order with {{"order_id": "{order}"}} and write the result to {order}.md'
        session_id = acta.start(asked).session_id
        acta.run()
        result = acta.head(session_id).result
        assert result is not None
        assert result.goal_met is met
    assert b'{"order_id": "7", "state": "sent"}' in acta.files.read("acme", "7.md")
    assert b"there is no order 8" in acta.files.read("acme", "8.md")


class Order(BaseModel):
    number: str


@tool(effect="read")
async def find_order(number: str) -> Order:
    """Finds an order."""
    return Order(number=number) if number == "7" else {"number": 8}  # type: ignore[return-value]


@tool(effect="read")
def count_orders() -> str:
    """Counts orders."""
    return None  # type: ignore[return-value]


class Odd:
    pass


@tool(effect="read")
def unlike_anything(number: str = "7") -> "Odd | str":
    """Has a type that pydantic does not know."""
    return number


def test_what_a_tool_returns_fits_its_annotation() -> None:
    assert call(find_order, {"number": "7"}) == {"number": "7"}
    assert call(unlike_anything) == "7"
    with pytest.raises(
        WrongResult, match=r"count_orders says that it returns str, and returned None: Input should be"
    ):
        call(count_orders)
    with pytest.raises(WrongResult, match="find_order says that it returns"):
        call(find_order, {"number": "8"})


def test_a_wrong_result_ends_the_test_of_an_agent_too() -> None:
    with pytest.raises(WrongResult, match="count_orders says"):
        run("Count", [uses("count_orders"), completes("None.")], tools=[count_orders])


def test_arguments_that_are_no_mapping_are_told_with_an_example() -> None:
    with pytest.raises(TypeError, match=r'a mapping such as {"number": "…"}, not of the type str'):
        call(find_order, "7")  # type: ignore[arg-type]


def test_a_module_that_ends_the_process_is_told_by_its_file(tmp_path: Path) -> None:
    (tmp_path / "tools.py").write_text("import sys\nsys.exit(1)\n")
    with pytest.raises(BadTool, match=r"tools\.py: importing it ends the process"):
        load(tmp_path)
