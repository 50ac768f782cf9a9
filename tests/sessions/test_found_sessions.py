"""`GET /v1/sessions` by person, metadata and words of the goal; a page costs a bounded number of reads
(docs/design/api.md)."""

from typing import Any

import pytest

from acta.engine.log.store import LISTED_GOAL_CHARS
from tests.api.session_functions import Person
from tests.in_process.house import House
from tests.in_process.scripted import ScriptedModel, completes, plans, says, step


@pytest.fixture
def house() -> House:
    house = House(ScriptedModel([]))
    ann, bob = Person(house), Person(house, "bob")
    ann.start(content="The Invoices of May", metadata={"ticket": "OPS-42"})
    bob.start(content="Rivers of Europe", metadata={"ticket": "OPS-43", "a=b": "c"})
    ann.start(content="x" * LISTED_GOAL_CHARS + "behind", metadata={})
    bob.start(content="Bob's own invoices", visibility="private", metadata={"ticket": "OPS-42"})
    return house


def goals(house: House, user: str = "ann", **query: str) -> list[str]:
    page = Person(house, user).get("/v1/sessions", **query)
    assert page.status == 200, page.body
    return [one["goal"][:6] for one in page.data["items"]]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"created_by": "ann"}, ["xxxxxx", "The In"]),
        ({"created_by": "nobody"}, []),
        ({"goal": "invoices"}, ["The In"]),
        ({"goal": "OF"}, ["Rivers", "The In"]),
        ({"goal": "behind"}, []),
        ({"metadata": "ticket=OPS-43"}, ["Rivers"]),
        ({"metadata": "ticket=OPS"}, []),
        ({"metadata": "ticket=OPS-42", "created_by": "ann", "goal": "may", "state": "planning"}, ["The In"]),
        ({"metadata": "ticket=OPS-42", "state": "completed"}, []),
        ({}, ["xxxxxx", "Rivers", "The In"]),
    ],
)
def test_what_fits_all_that_is_named_is_found(house: House, query: dict[str, str], found: list[str]) -> None:
    assert goals(house, **query) == found


def test_somebody_s_private_session_is_found_by_its_owner_alone(house: House) -> None:
    assert goals(house, "bob", goal="invoices") == ["Bob's ", "The In"]
    assert goals(house, "bob", metadata="ticket=OPS-42", created_by="bob") == ["Bob's "]


@pytest.mark.parametrize(
    "query", [{"metadata": "ticket"}, {"metadata": "=x"}, {"goal": ""}, {"goal": "x" * 201}]
)
def test_what_nothing_can_be_found_by_is_refused(house: House, query: dict[str, str]) -> None:
    refused = Person(house).get("/v1/sessions", **query)
    assert (refused.status, list(refused.error["details"])) == (400, list(query))


def test_a_new_goal_is_found_and_the_old_one_not_any_more(house: House) -> None:
    (session,) = (one["session_id"] for one in Person(house).get("/v1/sessions", goal="may").data["items"])
    house.cancel(session)
    house.say(session, "Mountains")
    assert goals(house, goal="may") == []
    assert goals(house, goal="mountains") == ["Mounta"]


class Counting:
    def __init__(self, log: Any) -> None:
        self.log, self.reads = log, 0

    def latest(self, tenant: str, session_id: str) -> Any:
        self.reads += 1
        return self.log.latest(tenant, session_id)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.log, name)


def test_a_page_reads_one_head_for_each_session_that_it_tells(house: House) -> None:
    counting = Counting(house.log)
    house.log = counting  # type: ignore[assignment]
    assert len(goals(house, created_by="ann", limit="1")) == 1
    assert counting.reads == 1


@pytest.mark.parametrize("name", ["agent_id", "created_by", "goal", "metadata", "state"])
def test_an_empty_filter_is_refused_whichever_it_is(house: House, name: str) -> None:
    answer = Person(house).get("/v1/sessions", **{name: ""})
    assert (answer.status, list(answer.error["details"])) == (400, [name])


@pytest.mark.parametrize("within", ["", "/sessions/{id}"])
def test_interventions_of_every_state_are_asked_for_in_one_way(house: House, within: str) -> None:
    person = Person(house)
    session_id = person.get("/v1/sessions").data["items"][0]["session_id"]
    path = f"/v1{within.format(id=session_id)}/interventions"
    assert person.get(path, state="all").status == 200
    for state in ("", "every"):
        refused = person.get(path, state=state).error["details"]
        (said,) = refused["state"]
        assert all(state in said for state in ("pending", "resolved", "expired", "withdrawn", "all"))


def test_completed_sessions_are_told_apart_by_whether_they_met_their_goal() -> None:
    house = House(
        ScriptedModel(
            [plans("one"), says("", step(1, "completed", "1")), completes("Done."), plans("one"), says("Hm.")]
        )
    )
    ann = Person(house)
    ann.start(content="Met it")
    house.run()
    house.start("Unmet", max_steps=1)
    house.run()
    ann.start()
    assert goals(house, goal_met="true") == ["Met it"]
    assert goals(house, goal_met="false", state="completed") == ["Unmet"]


@pytest.mark.parametrize("query", [{"goal_met": "yes"}, {"goal_met": "true", "state": "failed"}])
def test_a_session_that_is_not_completed_has_neither_met_its_goal_nor_not(query: dict[str, str]) -> None:
    refused = Person(House(ScriptedModel([]))).get("/v1/sessions", **query)
    assert (refused.status, list(refused.error["details"])) == (400, ["goal_met"])
