"""`files: given`: a child sees the files that its call names, and no others. It writes below the folders among them."""

from collections.abc import Sequence
from typing import Any

import pytest

from acta.engine.errors import ToolFailed
from acta.engine.files.given import GivenFiles
from acta.engine.files.tool_credentials import given_files_policy
from acta.engine.untrusted.path import PathRefused
from tests.in_process.family import FamilyHouse
from tests.in_process.house import TENANT
from tests.in_process.scripted import Turn, call, says

GIVEN = {"boss": {"agents": [{"agent": "worker", "files": "given"}]}}
THERE = ("a.md", "in/1.md", "in/2.md", "out/old.md", "secret.md")


def house_of(*worker: Turn, files: list[str], agents: Any = GIVEN, **scripts: Sequence[Turn]) -> FamilyHouse:
    boss = [says("", call("worker", goal="Read", files=files)), says("All done.")]
    house = FamilyHouse({"boss": boss, "worker": worker, **scripts}, agents)
    for path in THERE:
        house.files.write(TENANT, path, path.encode())
    return house


def results(house: FamilyHouse) -> list[tuple[str, bool]]:
    """What the worker was told of its calls."""
    boss = house.begin("boss").session_id
    house.run()
    (worker,) = house.children(boss)
    return house.results(worker.session_id)


def test_a_child_reads_what_it_was_given_and_nothing_else() -> None:
    reads = (call("read_file", path=path) for path in ("a.md", "in/1.md", "secret.md"))
    (a, one, secret) = results(house_of(says("", *reads), says("Read."), files=["a.md", "in/"]))
    assert a[1]
    assert one[1]
    assert secret == (
        "Error: secret.md is not among the files that this session was given: a.md, in/.",
        False,
    )


def test_a_listing_has_what_was_given_alone() -> None:
    lists = (call("list_files"), call("list_files", path="in"), call("list_files", path="out"))
    (every, inside, out) = results(house_of(says("", *lists), says("Read."), files=["a.md", "in/"]))
    assert "a.md" in every[0]
    assert "in/2.md" in every[0]
    assert "secret" not in every[0]
    assert "out" not in every[0].replace("in/", "")
    assert "in/1.md" in inside[0]
    assert "old.md" not in out[0]


def test_a_child_writes_only_below_the_folders_that_it_was_given() -> None:
    writes = (call("create_file", path=path, content="x") for path in ("out/new.md", "b.md"))
    house = house_of(says("", *writes), says("Written."), files=["a.md", "out/"])
    (inside, outside) = results(house)
    assert inside[1]
    assert "only below the folders that it was given" in outside[0]
    assert not outside[1]
    assert house.files.read(TENANT, "out/new.md") == b"x"


def test_what_was_not_given_is_not_shown_by_a_near_name() -> None:
    ((text, ok),) = results(
        house_of(says("", call("read_file", path="in/3.md")), says("Read."), files=["in/"])
    )
    assert not ok
    assert "secret" not in text


def test_a_child_gives_on_only_what_it_was_given() -> None:
    agents = {**GIVEN, "worker": {"agents": [{"agent": "helper", "files": "given"}]}}
    calls = (call("helper", goal="Read", files=[path]) for path in ("secret.md", "in/1.md"))
    house = house_of(says("", *calls), says("Read."), files=["in/"], agents=agents, helper=[says("Helped.")])
    boss = house.begin("boss").session_id
    house.run()
    (worker,) = house.children(boss)
    (refused, done) = house.results(worker.session_id)
    assert "secret.md is not among the files that this session was given" in refused[0]
    assert done[1]
    (helper,) = house.children(worker.session_id)
    assert helper.parent is not None
    assert helper.parent.files == ("in/1.md",)


def test_a_child_of_a_child_that_sees_what_its_parent_sees_is_bound_to_the_same_files() -> None:
    agents = {**GIVEN, "worker": {"agents": [{"agent": "helper"}]}}
    helper = [says("", call("read_file", path="secret.md")), says("Helped.")]
    house = house_of(
        says("", call("helper", goal="Read")), says("Read."), files=["in/"], agents=agents, helper=helper
    )
    boss = house.begin("boss").session_id
    house.run()
    (worker,) = house.children(boss)
    (below,) = house.children(worker.session_id)
    ((_, ok),) = house.results(below.session_id)
    assert not ok


def test_pages_of_a_listing_go_through_all_that_was_given() -> None:
    house = house_of(says("Read."), files=[])
    files = GivenFiles(house.files, ("in/", "a.md", "in/1.md"))
    found, cursor = [], None
    for _ in range(9):
        page = files.list(TENANT, "", 1, cursor)
        found += [each.path for each in page.files]
        cursor = page.cursor
        if cursor is None:
            break
    assert found == ["a.md", "in/1.md", "in/2.md"]
    with pytest.raises(PathRefused):
        files.delete(TENANT, "a.md")


def test_the_policy_of_a_python_tool_is_as_narrow_as_what_was_given() -> None:
    policy = given_files_policy("aws", "b", "t/", "write", ["a.md", "in/"])
    assert '"s3:PutObject","Resource":["arn:aws:s3:::b/t/in/*"]' in policy
    assert '["arn:aws:s3:::b/t/a.md","arn:aws:s3:::b/t/in/*"]' in policy
    with pytest.raises(ToolFailed, match="too long together"):
        given_files_policy("aws", "b", "t/", "read", [f"{'x' * 200}{number}" for number in range(10)])
    with pytest.raises(ToolFailed, match="has \\* or \\?"):
        given_files_policy("aws", "b", "t/", "read", ["a*.md"])
