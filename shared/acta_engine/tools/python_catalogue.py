"""The tools of the environment's folders of Python functions, as a file beside this module (ADR 87).

The file is made when Acta is built, from what `@tool` says of each function, and is part of the zips. So no store is
asked for it, and it is always of the same release as the code. An environment without such folders has no file.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from acta_engine.tools.tool import PythonTool, function_prefix, is_high_stakes_unless_said

FILE = Path(__file__).with_suffix(".json")


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


def from_spec(spec: Mapping[str, Any], folder: str, environment: str, tenants: Sequence[str]) -> PythonTool:
    """`spec`: of `acta.tools.define.Tool.to_spec`. `tenants`: who has the folder's tools. Raises Unusable for a schema
    that no tool may have, and pydantic's ValidationError.
    """
    from acta_engine.tools.tenant.definition import check_schema  # only where a catalogue is made

    stakes = spec.get("high_stakes")
    if stakes is None:
        stakes = is_high_stakes_unless_said(spec["name"], spec["effect"], spec["risk"])
    said = {**spec, "high_stakes": stakes}
    digest = hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:16]
    check_schema(spec["input_schema"])
    return PythonTool(
        **said,
        folder=folder,
        function=f"{function_prefix(environment)}{folder}",
        tenants=tuple(tenants),
        digest=digest,
    )
