"""What a deployment can go back to follows from the versions that it keeps, and what it cannot is refused first."""

from dataclasses import replace
from typing import get_args

import pytest

from acta.engine.store.schema import CURRENT
from acta.infra.deployed.releases import (
    BACKWARDS,
    KEPT,
    MovedByAnother,
    NotPossible,
    choose,
    forget_old,
    look,
    move,
    require_rest,
)
from acta.infra.environments import PROD
from acta.infra.local.deploy import KEPT_LOCALLY, keep_release, take_newest
from acta.infra.release import release_of
from acta.infra.sizing import FunctionName
from tests.doubles.lambda_versions import Lambdas, Stack
from tests.infra.conftest import Synthesised

ALL = ("start", "status", "step", "tool", "intervene", "admin", "usage", "recover", "fallback")


def deployed(*names: str, **how: int) -> Lambdas:
    lambdas = Lambdas()
    for name in names:
        lambdas.release(name, *ALL, **how)  # type: ignore[arg-type]
    return lambdas


def test_each_release_is_one_thing_with_a_version_of_each_function() -> None:
    found = look("prod", deployed("one", "two", "three"))
    assert [each.name for each in found.releases] == ["three", "two", "one"]
    assert all(set(each.versions) == set(ALL) for each in found.releases)
    assert [found.is_live(each) for each in found.releases] == [True, False, False]
    assert not found.has_gone_back


def test_without_a_name_it_goes_back_to_the_release_before_what_is_live() -> None:
    lambdas = deployed("one", "two", "three")
    for expected in ("two", "one"):
        found = look("prod", lambdas)
        target = choose(found, None)
        assert target.name == expected
        assert set(move(found, target, lambdas)) == set(ALL)
        assert set(lambdas.live().values()) == {expected}
        assert look("prod", lambdas).has_gone_back
    with pytest.raises(NotPossible, match="no earlier release"):
        choose(look("prod", lambdas), None)


def test_what_writes_goes_back_first_and_what_reads_goes_forward_first() -> None:
    assert sorted(BACKWARDS) == sorted(get_args(FunctionName))
    lambdas = deployed("one", "two")
    found = look("prod", lambdas)
    back = list(move(found, choose(found, None), lambdas))
    assert back.index("start") < back.index("step") < back.index("status")
    found = look("prod", lambdas)
    assert list(move(found, choose(found, "two"), lambdas)) == back[::-1]


def test_a_move_that_broke_off_is_made_again_from_where_it_stopped() -> None:
    lambdas = deployed("one", "two")
    lambdas.refuses_at = ("acta-prod-step", "PreconditionFailedException")
    found = look("prod", lambdas)
    with pytest.raises(MovedByAnother):
        list(move(found, choose(found, "one"), lambdas))
    assert set(lambdas.live().values()) == {"one", "two"}
    lambdas.refuses_at = None
    found = look("prod", lambdas)
    moved = list(move(found, choose(found, "one"), lambdas))
    assert "start" not in moved
    assert "step" in moved
    assert set(lambdas.live().values()) == {"one"}


def test_an_alias_that_somebody_else_has_moved_meanwhile_is_not_moved() -> None:
    lambdas = deployed("one", "two")
    found = look("prod", lambdas)
    lambdas.aliases["acta-prod-start"]["RevisionId"] = "another"
    with pytest.raises(MovedByAnother):
        list(move(found, choose(found, "one"), lambdas))
    assert lambdas.said == []


@pytest.mark.parametrize(("writes", "words"), [(3, "check it out"), (4, "sessions would stand still")])
def test_a_release_that_what_was_written_since_is_too_new_for_is_refused(writes: int, words: str) -> None:
    lambdas = deployed("one")
    lambdas.release("two", *ALL, writes=writes, reads=writes)
    with pytest.raises(NotPossible, match=words):
        choose(look("prod", lambdas), "one")


def test_it_is_refused_too_where_the_newer_version_was_written_by_a_release_in_between() -> None:
    lambdas = deployed("one")
    lambdas.release("two", *ALL, writes=3, reads=3)
    lambdas.release("two, writing as before", *ALL, writes=2, reads=3)
    found = look("prod", lambdas)
    with pytest.raises(NotPossible, match="check it out"):
        choose(found, "one")
    assert choose(found, "two").name == "two"


def test_the_release_before_can_be_gone_back_to_while_its_version_is_written() -> None:
    lambdas = deployed("one")
    lambdas.release("two", *ALL, writes=2, reads=3)
    assert choose(look("prod", lambdas), None).name == "one"


def test_nothing_moves_amid_a_roll_out() -> None:
    lambdas = deployed("one", "two")
    lambdas.aliases["acta-prod-step"]["RoutingConfig"] = {"AdditionalVersionWeights": {"2": 0.1}}
    with pytest.raises(NotPossible, match=r"step have two versions.*cancel-update-stack"):
        choose(look("prod", lambdas), None)
    with pytest.raises(NotPossible, match="UPDATE_ROLLBACK_IN_PROGRESS"):
        require_rest("prod", Stack("UPDATE_ROLLBACK_IN_PROGRESS"))
    require_rest("prod", Stack())


def test_a_function_that_came_later_stays() -> None:
    lambdas = Lambdas()
    lambdas.release("one", *ALL)
    lambdas.release("two", *ALL, "notify")
    found = look("prod", lambdas)
    assert "notify" not in list(move(found, choose(found, None), lambdas))
    assert lambdas.live()["notify"] == "two"


def test_functions_without_an_alias_are_of_a_release_that_cannot_be_gone_back_from() -> None:
    lambdas = deployed("one")
    del lambdas.aliases["acta-prod-tool"]
    with pytest.raises(NotPossible, match="acta-prod-tool has no alias live"):
        look("prod", lambdas)
    with pytest.raises(NotPossible, match="no functions acta-prod-"):
        look("prod", Lambdas())


def test_of_many_releases_the_newest_few_are_kept_and_what_is_live() -> None:
    lambdas = deployed(*(f"r{number}" for number in range(KEPT + 3)))
    found = look("prod", lambdas)
    list(move(found, choose(found, "r0"), lambdas))
    assert forget_old(look("prod", lambdas), lambdas) == 2 * len(ALL)
    kept = [each.name for each in look("prod", lambdas).releases]
    assert kept == [*(f"r{number}" for number in range(KEPT + 2, 2, -1)), "r0"]


def test_versions_that_a_newer_one_of_their_release_replaces_are_deleted() -> None:
    lambdas = deployed("one", "two", "one", "three")
    assert forget_old(look("prod", lambdas), lambdas) == len(ALL)
    numbers = [each["Version"] for each in lambdas.functions["acta-prod-step"]]
    assert numbers == ["2", "3", "4", "$LATEST"]
    assert forget_old(look("prod", lambdas), lambdas) == 0


def test_every_function_says_which_release_it_is_of_and_what_that_knows(each: Synthesised) -> None:
    for function in each.environment.functions:
        variables = each.stateless.function(function)["Environment"]["Variables"]
        assert variables["ACTA_RELEASE"] == release_of(each.environment)
        assert int(variables["ACTA_WRITE_VERSION"]) <= int(variables["ACTA_READS_VERSION"])


def test_another_schema_version_that_is_written_is_another_release() -> None:
    assert release_of(PROD) == release_of(PROD)
    assert release_of(PROD) != release_of(replace(PROD, write_version=CURRENT + 1))


def test_of_folders_of_python_tools_the_versions_stay_that_a_kept_release_calls() -> None:
    lambdas = Lambdas()
    for number in range(1, KEPT + 3):
        lambdas.release(f"{number}-a", *ALL)
        lambdas.release(f"{number}-a", "tool-orders")
        del lambdas.aliases["acta-prod-tool-orders"]  # it is called by its version
        tool = lambdas.functions["acta-prod-tool"]
        for each in tool[-2:]:
            variables = {**each["Environment"]["Variables"], "ACTA_TOOL_VERSIONS": f'{{"orders":"{number}"}}'}
            each["Environment"] = {"Variables": variables}

    forget_old(look("prod", lambdas), lambdas)

    kept = [each["Version"] for each in lambdas.functions["acta-prod-tool-orders"]]
    assert kept == [*map(str, range(3, KEPT + 3)), "$LATEST"]
    assert forget_old(look("prod", lambdas), lambdas) == 0


def test_a_local_deployment_can_go_back_to_what_was_there_before_it() -> None:
    lambdas = Lambdas("local")
    for name in ("one", "two", "three"):
        keep_release("local", lambdas)
        lambdas.release(name, *ALL, publishes=False, moves=False)
        take_newest("local", lambdas)
        assert set(lambdas.live().values()) == {name}
    found = look("local", lambdas)
    assert [each.name for each in found.releases] == ["three", "two", "one"]
    list(move(found, choose(found, None), lambdas))
    assert set(lambdas.live().values()) == {"two"}
    found = look("local", lambdas)
    list(move(found, choose(found, "three"), lambdas))
    assert set(lambdas.live().values()) == {"three"}


def test_a_local_stack_keeps_few_releases() -> None:
    lambdas = Lambdas("local")
    for number in range(KEPT_LOCALLY + 3):
        keep_release("local", lambdas)
        lambdas.release(f"r{number}", *ALL, publishes=False, moves=False)
        take_newest("local", lambdas)
    assert len(look("local", lambdas).releases) == KEPT_LOCALLY
