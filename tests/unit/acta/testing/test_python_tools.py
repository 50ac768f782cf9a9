"""Python tools in users' tests: one called by itself, and an agent that uses one."""

from pathlib import Path

import pytest

from acta import Call, ToolError, tool
from acta.testing import call, load
from acta.tools.errors import FileRefused, SecretMissing

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
        call(report, files=files)


def test_a_tool_has_the_access_to_files_that_it_was_declared_with() -> None:
    assert call(peek, {"path": "a.txt"}, files={"a.txt": "hello"}) == "hello"
    for path, said in (
        ("b.txt", "writes no files"),
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
