"""Who may see a session stands in every commit and in every question of it, whatever the deployment writes."""

from shared.domain.schema.versions import CURRENT, PREVIOUS
from tests.in_process.house import TENANT, House
from tests.in_process.scripted import ScriptedModel, call, completes, plans, says, step

SCRIPT = (
    plans("delete"),
    says("I delete it.", call("delete_file", path="a.txt")),
    says("", step(1, "completed", "ok")),
    completes("Done."),
)


def with_write_version(house: House, version: int) -> House:
    """The same stores, with functions of a deployment that writes this version."""
    house.settings = house.settings.model_copy(update={"write_version": version})
    house.repository = house.fresh_repository()
    house.runtime = house.runtime._replace(repository=house.fresh_repository())
    house.resolve_deps = house.resolve_deps._replace(repository=house.fresh_repository())
    return house


def test_a_deployment_that_goes_back_to_the_version_before_opens_no_private_session() -> None:
    house = House(ScriptedModel(SCRIPT))
    house.files.write(TENANT, "a.txt", b"a")
    private = house.start("Delete it", visibility="private").session_id
    house = with_write_version(house, PREVIOUS)
    house.run()
    (one,) = house.head(private).interventions
    assert one.private_to == house.user
    house.resolve(private, one, "approve")
    house.run()
    assert house.head(private).state == "completed"
    assert {stored.version for stored in house.table.commits[TENANT, private].values()} == {CURRENT}
    assert {commit.head.visibility for commit in house.log.read(TENANT, private, 1).commits} == {"private"}
    assert {stored.version for stored in house.table.interventions.values()} == {CURRENT}
    assert house.table.listing[TENANT, private].private_to == house.user


def test_a_session_of_the_tenant_goes_on_in_the_version_that_is_written() -> None:
    house = House(ScriptedModel(SCRIPT), write_version=PREVIOUS)
    session = house.start("Delete it").session_id
    house.run()
    assert {stored.version for stored in house.table.commits[TENANT, session].values()} == {PREVIOUS}
    assert house.table.listing[TENANT, session].private_to is None
