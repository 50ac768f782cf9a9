"""A private session works with its owner's private files; a session that the tenant sees reaches nobody's (ADR 50)."""

import pytest

from acta.engine.errors import ValidationFailed
from acta.engine.files.store import FileMissing
from acta.engine.log.conversation import ToolEntry
from tests.in_process.house import TENANT, House
from tests.in_process.scripted import ScriptedModel, call, completes, plans, says, step

WRITES = (
    plans("write"),
    says("I look.", call("list_files", path="~/"), call("read_file", path="~/diary.md")),
    says("I write.", call("create_file", path="~/plan.md", content="secret"), call("list_files")),
    says("", step(1, "completed", "ok")),
    completes("Done."),
)
DELETES = (
    plans("delete"),
    says("I delete it.", call("delete_file", path="~/diary.md")),
    says("", step(1, "completed", "ok")),
    completes("Done."),
)


def told(model: ScriptedModel) -> list[tuple[bool, str]]:
    """What the calls of tools came to."""
    entries = [entry for entry in model.requests[-1].entries if isinstance(entry, ToolEntry)]
    return [(entry.ok, entry.content.text or "") for entry in entries if entry.name != "update_plan"]


def test_a_private_session_reads_and_writes_its_owner_s_files_and_is_told_that_they_are_there() -> None:
    model = ScriptedModel(WRITES)
    house = House(model)
    mine = house.files.seen_by(house.user)
    mine.write(TENANT, "~/diary.md", b"mine")
    house.files.seen_by("bob").write(TENANT, "~/diary.md", b"his")
    house.files.write(TENANT, "shared.md", b"ours")
    house.start("Write it", visibility="private")
    house.run()
    listed, read, written, shared = told(model)
    assert all(ok for ok, _ in (listed, read, written, shared))
    assert "~/diary.md  4 bytes" in listed[1]
    assert "mine" in read[1]
    assert written[1] == "Created ~/plan.md, 6 bytes."
    assert "shared.md" in shared[1]
    assert "~" not in shared[1].split("\n", 1)[1]
    assert mine.read(TENANT, "~/plan.md") == b"secret"
    assert all("~/" in request.system for request in model.requests)
    with pytest.raises(FileMissing):
        house.files.seen_by("bob").read(TENANT, "~/plan.md")


def test_a_session_of_the_tenant_is_told_what_to_do_instead_and_of_no_private_file() -> None:
    model = ScriptedModel(WRITES)
    house = House(model)
    house.files.seen_by(house.user).write(TENANT, "~/diary.md", b"mine")
    house.start("Write it")
    house.run()
    *refused, shared = told(model)
    assert [ok for ok, _ in refused] == [False, False, False]
    assert all("visibility private" in text for _, text in refused)
    assert "diary" not in shared[1]
    assert all("~/" not in request.system for request in model.requests)
    with pytest.raises(FileMissing):
        house.files.seen_by(house.user).read(TENANT, "~/plan.md")


def test_nobody_is_asked_to_approve_what_a_session_of_the_tenant_cannot_reach() -> None:
    model = ScriptedModel(DELETES)
    house = House(model)
    house.files.seen_by(house.user).write(TENANT, "~/diary.md", b"mine")
    session = house.start("Delete it").session_id
    house.run()
    assert house.head(session).state == "completed"
    assert [ok for ok, _ in told(model)] == [False]


def test_the_owner_approves_a_deletion_and_may_name_another_private_file() -> None:
    house = House(ScriptedModel(DELETES))
    mine = house.files.seen_by(house.user)
    for path in ("~/diary.md", "~/old.md"):
        mine.write(TENANT, path, b"mine")
    session = house.start("Delete it", visibility="private").session_id
    house.run()
    (one,) = house.head(session).interventions
    house.resolve(session, one, "modify", path="~/old.md")
    house.run()
    assert [info.path for info in mine.list(TENANT, "~/", 10).files] == ["~/diary.md"]


def test_somebody_else_who_decides_names_no_other_private_file_of_the_owner() -> None:
    house = House(ScriptedModel(DELETES))
    mine = house.files.seen_by(house.user)
    for path in ("~/diary.md", "~/old.md"):
        mine.write(TENANT, path, b"mine")
    session = house.start("Delete it", visibility="private").session_id
    house.run()
    (one,) = house.head(session).interventions
    house.user = "bob"
    with pytest.raises(ValidationFailed) as refused:
        house.resolve(session, one, "modify", path="~/old.md")
    assert "begin with ~/" in str(refused.value.details)
    house.resolve(session, one, "modify", path="~/diary.md")
    house.run()
    assert [info.path for info in mine.list(TENANT, "~/", 10).files] == ["~/old.md"]
