"""The tools of the environment's folders of Python functions, as a file beside this module (ADR 87).

The file is made when Acta is built and is part of the zips, so no store is asked for it and it is always of the same
release as the code. Where the environment has no such folder there is no file.
"""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from acta_engine.tools.tool import PythonTool

FILE = Path(__file__).with_name("catalogue.json")


@cache
def catalogue() -> Mapping[str, PythonTool]:
    """All of them by name, read once per process."""
    try:
        text = FILE.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    tools = [PythonTool.model_validate(each) for each in json.loads(text)["tools"]]
    return {tool.name: tool for tool in tools}


def python_tools(tenant: str) -> Mapping[str, PythonTool]:
    """Those that the tenant has, by name. The others do not exist for it."""
    return {name: tool for name, tool in catalogue().items() if tool.is_for(tenant)}
