"""Goals and keys over an event: values alone, nothing that runs, and nothing that hides."""

from typing import Any

import pytest
from pydantic import ValidationError

from acta.engine.triggers.routes import PutTrigger
from acta.engine.triggers.trigger import goal_of, key_of

EVENT = {
    "order": {"id": 4711, "lines": [{"name": "pen"}, {"name": "ink"}], "note": "a\nb\u202e"},
    "long": "x" * 500,
    "flat.key": 1,
}


def trigger(**fields: Any) -> PutTrigger:
    return PutTrigger.model_validate({"source": "orders", "goal": "Go", **fields})


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("Order {{event.order.id}}.", "Order 4711."),
        ("{{ event.order.lines.1.name }}", '"ink"'),
        ("{{event.order.lines.2.name}} {{event.none.of.it}} {{event.order.id.x}}", "null null null"),
        ("{{event.order.note}}", '"a\\nb\\u202e"'),
        ("{{event.order.lines.0}}", '{"name": "pen"}'),
        ("no place", "no place"),
    ],
)
def test_a_place_stands_for_a_value_as_json_on_one_line(template: str, text: str) -> None:
    assert goal_of(trigger(goal=template).goal, EVENT) == text


def test_a_long_value_is_cut() -> None:
    assert goal_of("{{event.long}}", EVENT) == '"' + "x" * 198 + "…"


def test_a_value_is_not_a_template() -> None:
    assert goal_of("{{event.a}}", {"a": "{{event.b}}", "b": "secret"}) == '"{{event.b}}"'


@pytest.mark.parametrize(
    "goal",
    ["{{date}}", "{{event}}", "{{event.}}", "{{event.a", "a }} b", "{{event..a}}", "{{event.a}}" * 51, "  "],
)
def test_a_template_with_anything_else_is_refused(goal: str) -> None:
    with pytest.raises(ValidationError):
        trigger(goal=goal)


def test_a_key_is_the_same_for_the_same_values_and_none_where_one_is_missing() -> None:
    template = "order-{{event.order.id}}"
    assert key_of(template, EVENT) == key_of(template, {"order": {"id": 4711, "state": "paid"}}) is not None
    assert key_of(template, EVENT) != key_of(template, {"order": {"id": "4711"}})
    assert key_of(template, {"order": {}}) is None
    assert key_of("one", {}) == key_of("one", EVENT)


@pytest.mark.parametrize(
    "fields", [{"webhook": {"scheme": "github", "secret": "s"}}, {"source": None}, {"pattern": {"a": "b"}}]
)
def test_a_trigger_has_one_source_and_a_pattern_that_can_fit(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        trigger(**fields)
