"""Which events a pattern lets through, and which patterns are refused."""

from typing import Any

import pytest

from acta.engine.triggers.pattern import MAX_PATTERN_BYTES, PatternRefused, check_pattern, matches

EVENT = {
    "type": "order.paid",
    "order": {"total": 1200, "country": "DE", "express": True, "note": None, "tags": ["new", "large"]},
    "lines": [{"sku": "A-1", "count": 1}, {"sku": "B-2", "count": 5}],
    "file": "Invoices/May.PDF",
}


def fits(pattern: dict[str, Any]) -> bool:
    check_pattern(pattern)
    return matches(pattern, EVENT)


@pytest.mark.parametrize(
    "pattern",
    [
        {},
        {"type": ["order.paid"]},
        {"type": ["order.sent", "order.paid"], "order": {"country": ["DE"]}},
        {"order": {"total": [1200.0]}},
        {"order": {"express": [True], "note": [None]}},
        {"order": {"tags": ["large"]}},
        {"order": {"total": [{"numeric": [">", 1000, "<=", 1200]}]}},
        {"order": {"total": [{"numeric": ["=", 1200]}]}},
        {"type": [{"prefix": "order."}]},
        {"type": [{"suffix": ".paid"}]},
        {"file": [{"suffix": {"equals-ignore-case": ".pdf"}}]},
        {"file": [{"prefix": {"equals-ignore-case": "invoices/"}}]},
        {"order": {"country": [{"equals-ignore-case": "de"}]}},
        {"order": {"country": [{"anything-but": ["US", "FR"]}]}},
        {"order": {"country": [{"anything-but": {"prefix": "U"}}]}},
        {"order": {"total": [{"anything-but": 1000}]}},
        {"order": {"discount": [{"exists": False}]}},
        {"order": {"total": [{"exists": True}], "note": [{"exists": True}]}},
        {"order": [{"exists": True}]},
        {"customer": {"name": [{"exists": False}]}},
        {"lines": {"sku": ["B-2"], "count": [5]}},
        {"$or": [{"type": ["order.sent"]}, {"order": {"country": ["DE"]}}]},
        {"order": {"$or": [{"country": ["US"]}, {"total": [{"numeric": [">", 1]}]}]}},
    ],
)
def test_a_pattern_lets_through_the_event_that_it_describes(pattern: dict[str, Any]) -> None:
    assert fits(pattern)


@pytest.mark.parametrize(
    "pattern",
    [
        {"type": ["order.sent"]},
        {"type": ["order.paid"], "order": {"country": ["US"]}},
        {"type": {"of": ["order.paid"]}},
        {"order": {"total": ["1200"]}},
        {"order": {"total": [{"numeric": [">", 1200]}]}},
        {"order": {"country": [{"numeric": [">", 0]}]}},
        {"order": {"express": [1]}},
        {"order": {"express": [{"numeric": ["=", 1]}]}},
        {"file": [{"suffix": ".pdf"}]},
        {"order": {"country": [{"anything-but": ["DE"]}]}},
        {"order": {"country": [{"anything-but": {"equals-ignore-case": ["de", "at"]}}]}},
        {"order": {"discount": [{"anything-but": 5}]}},
        {"order": {"discount": [None]}},
        {"order": {"total": [{"exists": False}]}},
        {"lines": {"sku": ["A-1"], "count": [5]}},
        {"$or": [{"type": ["order.sent"]}, {"order": {"country": ["US"]}}]},
    ],
)
def test_a_pattern_holds_back_every_other_event(pattern: dict[str, Any]) -> None:
    assert not fits(pattern)


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ({"type": "order.paid"}, 'pattern.type is a list of what the value may be, such as ["order.paid"].'),
        ({"type": []}, "pattern.type is a list"),
        ({"order": {}}, "pattern.order is empty."),
        (
            {"type": {"prefix": "order."}},
            'pattern.type has an operator outside a list. Write [{"prefix": …}].',
        ),
        ({"type": [["order.paid"]]}, "pattern.type[0] is a list in a list."),
        ({"a": {"b": ["x", {"wildcard": "*"}]}}, "pattern.a.b[1]: there is no operator wildcard here."),
        ({"ip": [{"cidr": "10.0.0.0/8"}]}, "there is no operator cidr here."),
        ({"a": [{"preffix": "x"}]}, "Did you mean prefix"),
        ({"a": [{"prefix": "x", "suffix": "y"}]}, "pattern.a[0] has one operator"),
        ({"a": [{"prefix": 1}]}, "pattern.a[0]: prefix takes"),
        ({"a": [{"suffix": {"prefix": "a"}}]}, "pattern.a[0]: suffix takes"),
        ({"a": [{"exists": "yes"}]}, "pattern.a[0]: exists takes true or false."),
        ({"a": [{"numeric": [">"]}]}, "pattern.a[0]: numeric takes"),
        ({"a": [{"numeric": ["==", 1]}]}, "pattern.a[0]: numeric takes"),
        ({"a": [{"numeric": [">", True]}]}, "pattern.a[0]: numeric takes"),
        ({"a": [{"anything-but": []}]}, "pattern.a[0]: anything-but takes"),
        ({"a": [{"anything-but": {"wildcard": "*"}}]}, "pattern.a[0]: anything-but takes"),
        ({"a": [{"anything-but": None}]}, "pattern.a[0]: anything-but takes"),
        ({"$or": [{"a": ["b"]}]}, "pattern.$or is a list of at least two patterns."),
        ({"$or": [{"a": ["b"]}, {"a": "b"}]}, "pattern.$or[1].a is a list"),
        ({"a": ["x" * MAX_PATTERN_BYTES]}, "at most 2,048 are allowed."),
    ],
)
def test_a_pattern_that_would_let_nothing_through_is_refused_with_its_place(
    pattern: dict[str, Any], said: str
) -> None:
    with pytest.raises(PatternRefused) as refused:
        check_pattern(pattern)
    assert said in str(refused.value)
