"""What `@tool` says of a Python function, as the tool that Acta offers."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from acta_engine.tools.function_names import function_prefix
from acta_engine.tools.tenant.definition import check_schema
from acta_engine.tools.tool import PythonTool, is_high_stakes_unless_said


def from_spec(spec: Mapping[str, Any], folder: str, environment: str, tenants: Sequence[str]) -> PythonTool:
    """`spec`: of `acta.tools.define.Tool.to_spec`. `tenants`: who has the folder's tools. Raises Unusable for a schema
    that no tool may have, and pydantic's ValidationError.
    """
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
