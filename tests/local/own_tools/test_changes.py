"""What a change of the folders of tools leads to."""

import pytest

from acta_infra.local.tool_watch import Live, Settled, Update, update

ORDERS = Live("code-1", "shape-1")
BILLS = Live("code-9", "shape-9")


@pytest.mark.parametrize(
    ("live", "wanted", "found"),
    [
        ({}, {}, None),
        ({"orders": ORDERS}, {"orders": ORDERS}, None),
        ({"orders": ORDERS}, {"orders": Live("code-2", "shape-1")}, Update(False, ("orders",))),
        (
            {"orders": ORDERS, "bills": BILLS},
            {"orders": Live("code-2", "shape-1"), "bills": Live("code-8", "shape-9")},
            Update(False, ("bills", "orders")),
        ),
        ({"orders": ORDERS}, {"orders": Live("code-2", "shape-2")}, Update(True, ("orders",))),
        ({"orders": ORDERS}, {"orders": Live("code-1", "shape-2")}, Update(True, ("orders",))),
        ({"orders": ORDERS}, {"orders": ORDERS, "bills": BILLS}, Update(True, ("bills",))),
        ({"orders": ORDERS}, {}, Update(True, (), ("orders",))),
        ({"orders": ORDERS}, {"bills": BILLS}, Update(True, ("bills",), ("orders",))),
    ],
)
def test_code_is_put_into_its_lambda_and_all_else_is_deployed(
    live: dict[str, Live], wanted: dict[str, Live], found: Update | None
) -> None:
    assert update(live, wanted) == found


def test_a_change_is_taken_once_and_not_before_it_is_over() -> None:
    before, half, whole = ({"tools.py": (1, 10)}, {"tools.py": (2, 0)}, {"tools.py": (3, 12)})
    settled = Settled(before)
    looks = [before, half, whole, whole, whole, before, before]
    assert [settled.is_new(one) for one in looks] == [False, False, False, True, False, False, True]
