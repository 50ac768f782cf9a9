"""A schema that the registry accepts can check inputs; one accepted by an earlier release never ends a session."""

from typing import Any

import pytest

from acta.engine.errors import ToolInputInvalid
from acta.engine.tools.schema import check_input
from acta.engine.tools.tenant.definition import Unusable, check_schema
from acta.engine.tools.tool import ToolSpec
from acta.engine.untrusted.schemas import MAX_CHAIN

TREE = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "children": {"type": "array", "items": {"$ref": "#"}}},
    "required": ["name"],
}


def whole(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def chained(length: int) -> dict[str, Any]:
    """`#/$defs/0` leads to `1`, and so on to the last, a string."""
    defs: dict[str, Any] = {str(n): {"$ref": f"#/$defs/{n + 1}"} for n in range(length)}
    return whole(a={"$ref": "#/$defs/0"}) | {"$defs": {**defs, str(length): {"type": "string"}}}


NOWHERE = {
    "a pointer": whole(a={"$ref": "#/$defs/none"}),
    "a pointer into a list": whole(a={"$ref": "#/required/x"}) | {"required": ["a"]},
    "a pointer into a number": whole(a={"$ref": "#/minProperties/x"}) | {"minProperties": 1},
    "an anchor": whole(a={"$ref": "#none"}),
    "a dynamic anchor": whole(a={"$dynamicRef": "#none"}),
    "behind a reference": whole(a={"$ref": "#/x"}) | {"x": {"$ref": "#/y"}},
    "under another id": whole(a={"$id": "https://x.example/", "$ref": "#/$defs/b"}) | {"$defs": {"b": {}}},
    "no schema": whole(a={"$ref": "#/required"}) | {"required": ["a"]},
    "a wrong schema": whole(a={"$ref": "#/x"}) | {"x": {"type": "text"}},
}
ROUND = {
    "itself": {"type": "object", "$ref": "#"},
    "two": whole(a={"$ref": "#/$defs/b"})
    | {"$defs": {"b": {"$ref": "#/$defs/c"}, "c": {"$ref": "#/$defs/b"}}},
    "by all of": {"type": "object", "allOf": [{"$ref": "#"}]},
    "by a condition": {"type": "object", "if": {"required": ["a"]}, "then": {"$ref": "#"}},
    "by a dependent": {"type": "object", "dependentSchemas": {"a": {"$ref": "#"}}},
    "by a dynamic anchor": {"type": "object", "$dynamicAnchor": "x", "$dynamicRef": "#x"},
}
USABLE = {
    "a tree": TREE,
    "a tree by names": {"type": "object", "additionalProperties": {"$ref": "#"}},
    "a tree by an anchor": {"$anchor": "x", "type": "object", "patternProperties": {".": {"$ref": "#x"}}},
    "a definition twice": whole(a={"$ref": "#/$defs/x"}, b={"$ref": "#/$defs/x"}) | {"$defs": {"x": {}}},
    "a truth": whole(a={"$ref": "#/$defs/x"}) | {"$defs": {"x": True}},
    "elsewhere": whole(a={"$ref": "#/parts/x"}) | {"parts": {"x": {"type": "string"}}},
    "a property of that name": whole(a={"properties": {"$ref": {"type": "string"}}}),
    "a value that looks like one": whole(a={"default": {"$ref": "#/nothing"}}),
    "as long a chain as may be": chained(MAX_CHAIN - 2),
}


@pytest.mark.parametrize("name", [*NOWHERE, *ROUND])
def test_references_that_no_input_can_be_checked_by_are_refused(name: str) -> None:
    with pytest.raises(Unusable, match="input_schema"):
        check_schema({**NOWHERE, **ROUND}[name])


def test_a_chain_that_the_check_of_an_input_might_not_come_to_the_end_of_is_refused() -> None:
    with pytest.raises(Unusable):
        check_schema(chained(400))


@pytest.mark.parametrize("name", USABLE)
def test_what_leads_to_a_schema_is_accepted_and_checks_inputs(name: str) -> None:
    check_schema(USABLE[name])
    spec = ToolSpec(name="t", description="d", input_schema=USABLE[name])
    check_input(
        spec, {"name": "x", "a": "y"} if name not in ("a tree by names", "a tree by an anchor") else {}
    )


@pytest.mark.parametrize("name", [*NOWHERE, *ROUND])
def test_a_stored_schema_that_leads_nowhere_refuses_the_input_and_nothing_else(name: str) -> None:
    spec = ToolSpec(name="pay", description="d", input_schema={**NOWHERE, **ROUND}[name])
    with pytest.raises(ToolInputInvalid, match="the input of pay"):
        check_input(spec, {"a": {"b": 1}})


def test_a_tree_is_checked_to_its_leaves_and_one_too_deep_is_refused() -> None:
    spec = ToolSpec(name="plant", description="d", input_schema=TREE)
    tree: dict[str, Any] = {"name": "leaf"}
    for _ in range(20):
        tree = {"name": "branch", "children": [tree]}
    check_input(spec, tree)
    for _ in range(800):
        tree = {"name": "branch", "children": [tree]}
    with pytest.raises(ToolInputInvalid, match="too deep"):
        check_input(spec, tree)


def test_a_number_that_cannot_be_divided_is_refused() -> None:
    spec = ToolSpec(name="pay", description="d", input_schema=whole(a={"type": "number", "multipleOf": 0.01}))
    for number in (7.25, 10**400):
        check_input(spec, {"a": number})
    with pytest.raises(ToolInputInvalid):
        check_input(spec, {"a": float("nan")})
