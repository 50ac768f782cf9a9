"""What holds for every built-in tool, whichever file it is in."""

from pathlib import Path

import pytest

import acta.engine.tools.builtin as folder
from acta.engine.tools.builtin import builtins, offered
from acta.engine.tools.tool import BuiltinTool

TOOLS = list(builtins().values())


def test_a_file_in_the_folder_is_all_that_a_tool_takes() -> None:
    names = {path.stem for path in Path(folder.__file__).parent.glob("*.py")} - {"__init__"}
    made_by_the_turn = {"plan", "search"}
    assert {
        tool.run.__module__.rpartition(".")[2] for tool in TOOLS if tool.run is not None
    } == names - made_by_the_turn
    assert [tool.name for tool in TOOLS if tool.run is None] == ["update_plan", "find_tools", "use_tool"]


def test_a_tool_that_is_not_offered_keeps_its_name() -> None:
    own = builtins()["list_files"].model_copy(
        update={"name": "get_weather", "description": "The environment's."}
    )
    assert "get_weather" not in offered((), {"get_weather": own})
    assert offered({"get_weather"}, {"get_weather": own})["get_weather"] == builtins()["get_weather"]


@pytest.mark.parametrize(
    "tool", [tool for tool in TOOLS if tool.file is not None], ids=lambda tool: tool.name
)
def test_what_a_tool_says_of_its_file_are_arguments_that_it_has(tool: BuiltinTool) -> None:
    assert tool.file is not None
    named = {tool.file.argument, tool.file.content, tool.file.replace} - {None}
    assert named <= tool.input_schema["properties"].keys()
    assert tool.file.argument in tool.input_schema["required"]
