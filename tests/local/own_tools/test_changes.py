"""What a change of the folders of tools leads to."""

import pytest

from acta.infra.local.tool_watch import FolderUpdate, LiveFolder, Settled, update

ORDERS = LiveFolder("code-1", "shape-1")
BILLS = LiveFolder("code-9", "shape-9")


@pytest.mark.parametrize(
    ("live", "wanted", "found"),
    [
        ({}, {}, None),
        ({"orders": ORDERS}, {"orders": ORDERS}, None),
        ({"orders": ORDERS}, {"orders": LiveFolder("code-2", "shape-1")}, FolderUpdate(False, ("orders",))),
        (
            {"orders": ORDERS, "bills": BILLS},
            {"orders": LiveFolder("code-2", "shape-1"), "bills": LiveFolder("code-8", "shape-9")},
            FolderUpdate(False, ("bills", "orders")),
        ),
        ({"orders": ORDERS}, {"orders": LiveFolder("code-2", "shape-2")}, FolderUpdate(True, ("orders",))),
        ({"orders": ORDERS}, {"orders": LiveFolder("code-1", "shape-2")}, FolderUpdate(True, ("orders",))),
        ({"orders": ORDERS}, {"orders": ORDERS, "bills": BILLS}, FolderUpdate(True, ("bills",))),
        ({"orders": ORDERS}, {}, FolderUpdate(True, (), ("orders",))),
        ({"orders": ORDERS}, {"bills": BILLS}, FolderUpdate(True, ("bills",), ("orders",))),
    ],
)
def test_code_is_put_into_its_lambda_and_all_else_is_deployed(
    live: dict[str, LiveFolder], wanted: dict[str, LiveFolder], found: FolderUpdate | None
) -> None:
    assert update(live, wanted) == found


def test_a_change_is_taken_once_and_not_before_it_is_over() -> None:
    before, half, whole = ({"tools.py": (1, 10)}, {"tools.py": (2, 0)}, {"tools.py": (3, 12)})
    settled = Settled(before)
    looks = [before, half, whole, whole, whole, before, before]
    assert [settled.is_new(one) for one in looks] == [False, False, False, True, False, False, True]
