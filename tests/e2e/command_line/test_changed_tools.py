"""A folder of Python tools changes while the stack serves."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from acta.infra.local.tool_watch import ToolWatch
from acta.infra.tool_folders import ToolFolder, folders_in
from tests.e2e.conftest import Admit
from tests.e2e.support.behind import Behind
from tests.e2e.support.own_tools import TENANT, tools_dir
from tests.e2e.support.person import Person


class Served:
    """The deployed stack with another place for its folders of tools."""

    def __init__(self, behind: Behind, place: Path) -> None:
        self.tools_dir: Path | None = place
        self._behind = behind

    def tool_folders(self) -> tuple[ToolFolder, ...]:
        return folders_in(self.tools_dir, "local")

    def lambdas(self) -> Any:
        return self._behind.client("lambda")

    def deploy_again(self) -> None:
        raise AssertionError("what has changed is code alone")


@pytest.fixture
def place(behind: Behind, tmp_path: Path) -> Iterator[Path]:
    """A copy of the folders that are deployed. Their code is put back afterwards."""
    place = tmp_path / "tools"
    shutil.copytree(tools_dir(), place)
    yield place
    shutil.rmtree(place)
    shutil.copytree(tools_dir(), place)
    ToolWatch(Served(behind, place), tmp_path / "tools.json", lambda said: None).begin()


def looked_up(shop: Person, order: str) -> Any:
    answer = shop.post("/v1/tools/lookup_order/call", {"input": {"order_id": order}})
    assert answer.status_code == 200, answer.text
    return answer.json()["data"]


@pytest.mark.thorough
def test_an_edit_is_at_work_without_a_restart_and_an_error_leaves_what_was(
    behind: Behind, admit: Admit, place: Path, tmp_path: Path
) -> None:
    shop, said = admit(tenant=TENANT, role="admin"), list[str]()
    watch = ToolWatch(Served(behind, place), tmp_path / "tools.json", said.append)
    watch.begin()
    assert looked_up(shop, "2000")["outcome"] == "failed"

    orders = place / "orders" / "orders.json"
    orders.write_text(orders.read_text().replace('"1007": {', '"2000": {', 1))
    watch.look()
    watch.look()
    assert said == ["tools: orders updated, the next call runs it"]
    assert looked_up(shop, "2000")["outcome"] == "succeeded"

    orders.write_text("no JSON")
    watch.look()
    watch.look()
    assert "tools.py line" in said[1]
    assert looked_up(shop, "2000")["outcome"] == "succeeded"
