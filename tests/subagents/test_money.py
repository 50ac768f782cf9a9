"""What is charged to a session and reserved for its children is never more than its budget, and nothing of it is lost
or charged twice (docs/design/sub-agents.md 13, 14)."""

import contextlib
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from acta.engine.errors import Conflict, Forbidden, ValidationFailed
from acta.engine.limits.shares import hour_of
from acta.engine.log.commit import Change
from acta.engine.log.head import Head
from acta.engine.models.model import ModelReply, ModelRequest, TokenUsage
from acta.engine.models.providers import NamedModel
from acta.engine.turn.budget import all_tokens, reserved, settle_call, spent_usd
from tests.in_process.deaths import Deaths, Died, Point
from tests.in_process.house import TENANT
from tests.in_process.scripted import call, says
from tests.in_process.tree import AGENTS, MODEL, TREE, TreeHouse, goal_of

EXAMPLES = settings(deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
MOST_ROUNDS = 300


class ManyDeaths(Deaths):
    """Dies at each of these points."""

    def __init__(self, numbers: Sequence[int]) -> None:
        super().__init__()
        self.numbers = set(numbers)

    def meet(self, point: Point) -> None:
        self.met.append(point)
        if len(self.met) in self.numbers:
            raise Died


class Play:
    """A tree of which everything is drawn, driven to its end: how many there are, what each reply uses, what people
    decide, and where workers die and answers get lost.
    """

    def __init__(
        self,
        *,
        leads: int,
        workers: int,
        at_once: int,
        outputs: Sequence[int],
        raises: Sequence[int],
        deaths: Sequence[int] = (),
        lost: Sequence[int] = (),
        **limits: Any,
    ) -> None:
        self.outputs, self.raises = list(outputs), list(raises)

        def paid(reply: ModelReply, request: ModelRequest) -> ModelReply:
            used = self.outputs.pop(0) if self.outputs else 50
            return reply._replace(usage=TokenUsage(input=100, output=min(used, request.max_tokens)))

        lead = says("", call("lead", goal="Lead", map=[str(n) for n in range(leads)], at_once=at_once))

        def led(request: ModelRequest) -> ModelReply:
            of = [f"{goal_of(request).split()[-1]}-{n}" for n in range(workers)]
            return paid(says("", call("worker", goal="Write", map=of, at_once=at_once)), request)

        def said(text: str) -> Any:
            return lambda request: paid(says(text), request)

        def began(request: ModelRequest) -> ModelReply:
            name = goal_of(request).split()[-1]
            return paid(says("", call("create_file", path=f"{name}.md", content="x")), request)

        scripts = {
            "boss": [lambda request: paid(lead, request), said("Done.")],
            "lead": [led, said("Led.")],
            "worker": [began, said("Written.")],
        }
        self.house = TreeHouse(scripts, AGENTS)
        self.house.watched.lost_answers = frozenset(lost)
        self.boss = self.house.begin("boss", **limits).session_id
        self.house.mortal_workers(ManyDeaths(deaths))

    def run(self) -> None:
        house = self.house
        for _ in range(MOST_ROUNDS):
            try:
                house.run()
                house.recover()
                house.run()
                open_ones = [one for one in house.tree(self.boss) if one.interventions]
                if open_ones:
                    self.decide(open_ones[-1])
                elif not any(one.is_open or one.owes_family for one in house.tree(self.boss)):
                    break
            except Died:
                house.new_worker()
                if house.decisions:
                    at = house.decisions[-1].at
                    house.mortal.stop(at.session_id, at.run_id, at.generation)
        else:
            raise AssertionError("it does not end")
        house.mortal_workers(Deaths())

    def decide(self, head: Head) -> None:
        (one,) = head.interventions[:1]
        more = self.raises.pop(0) if self.raises else 0
        if one.type == "budget_exceeded" and more:
            try:
                self.house.resolve(
                    head.session_id, one, "raise", token_budget=head.budget.token_budget + more
                )
                return
            except (ValidationFailed, Forbidden):
                pass  # its parent has too little
        self.house.resolve(head.session_id, one, "finish" if one.type == "budget_exceeded" else "cancel")


NUMBERS = st.lists(st.integers(1, 500), max_size=6)


@pytest.mark.parametrize("examples", [12, pytest.param(300, marks=pytest.mark.thorough)])
def test_at_every_commit_of_a_tree_what_is_charged_and_reserved_is_within_the_budget(examples: int) -> None:
    @settings(EXAMPLES, max_examples=examples)
    @given(
        leads=st.integers(1, 3),
        workers=st.integers(1, 3),
        at_once=st.integers(1, 3),
        outputs=st.lists(st.sampled_from([10, 300, 2_000, 4_000]), max_size=20),
        raises=st.lists(st.sampled_from([0, 500, 5_000, 50_000]), max_size=8),
        deaths=NUMBERS,
        lost=NUMBERS,
        token_budget=st.sampled_from([4_000, 15_000, 40_000, 200_000]),
        cost_budget_usd=st.sampled_from([None, 0.05, 0.2, 1.0]),
    )
    def holds(**drawn: Any) -> None:
        play = Play(**drawn)
        play.run()
        play.house.check_accounts(play.boss)

    holds()


def test_an_answer_that_comes_after_a_childs_end_changes_neither_what_it_nor_what_its_parent_is_charged() -> (
    None
):
    def is_cancelled_meanwhile(request: ModelRequest) -> ModelReply:
        (child,) = house.children(boss)
        house.cancel(child.session_id)
        before.append(all_tokens(house.head(child.session_id).budget))
        return says("Too late")

    before: list[int] = []
    scripts: Any = {
        "boss": [says("", call("worker", goal="Find it")), says("Done.")],
        "worker": [is_cancelled_meanwhile],
    }
    house = TreeHouse(scripts, {**AGENTS, "boss": {"agents": [{"agent": "worker"}], "model": MODEL}})
    boss = house.begin("boss", token_budget=200_000, cost_budget_usd=5.0).session_id
    house.run()

    (child,) = house.children(boss)
    assert child.state == "cancelled"
    assert before[0] > 77, "the estimate of its call is charged"
    house.check_accounts(boss)

    # its provider, asked to stop, says what it has made
    change = Change(child, 99, house.clock.now())
    attempts = house.attempts.read(TENANT, child.session_id).attempts
    late = says("Too late")._replace(usage=TokenUsage(input=70, output=7))
    settle_call(change, attempts, 0.0, NamedModel("anthropic", MODEL), late)
    assert change.head.usage.total_tokens == 77
    assert all_tokens(change.head.budget) == before[0] == house.head(boss).budget.children_tokens
    assert spent_usd(change.head) == spent_usd(child) == house.head(boss).budget.children_usd


# ---- a child that needs more


def eats(request: ModelRequest) -> ModelReply:
    """Uses all that it may."""
    used = TokenUsage(input=100, output=request.max_tokens)
    return says("", call("list_files", path="a"))._replace(usage=used)


HUNGRY: Any = {
    "boss": [says("", call("worker", goal="Write it", map=["a", "b"], at_once=1)), says("All done.")],
    "worker": [eats, says("Written.")],
}
MEAN: Any = {
    "boss": {"agents": [{"agent": "worker"}], "model": MODEL},
    "worker": {"model": MODEL, "limits": {"token_budget": 4_500}},
}


def asking(agents: Any = MEAN, **limits: Any) -> tuple[TreeHouse, str, Head]:
    """A boss whose first child has used up its budget and asks."""
    house = TreeHouse(HUNGRY, agents)
    boss = house.begin("boss", **{"token_budget": 30_000, **limits}).session_id
    house.run()
    (child,) = house.children(boss)
    assert [one.type for one in child.interventions] == ["budget_exceeded"]
    return house, boss, child


def test_the_question_of_a_child_says_whose_money_it_is() -> None:
    house, boss, child = asking()
    (one,) = child.interventions
    given_by = one.context["given_by"]
    assert (given_by["session_id"], given_by["agent_name"]) == (boss, "boss")
    head = house.head(boss)
    assert given_by["token_budget_left"] == 30_000 - all_tokens(head.budget) - 4_500
    assert "cost_budget_usd_left" not in given_by


def test_a_raise_is_taken_from_the_parents_budget_once_whatever_is_repeated() -> None:
    house, boss, child = asking()
    (one,) = child.interventions
    deaths = Deaths()
    house.mortal_workers(deaths)
    house.resolve(child.session_id, one, "raise", token_budget=20_000)
    passed = len(deaths.met)

    for number in range(1, passed + 1):
        house, boss, child = asking()
        (one,) = child.interventions
        house.mortal_workers(Deaths(number))
        try:
            house.resolve(child.session_id, one, "raise", token_budget=20_000)
        except Died:
            house.new_worker()
            with contextlib.suppress(Conflict):
                house.resolve(child.session_id, one, "raise", token_budget=20_000)
        house.mortal_workers(Deaths())
        assert reserved(house.head(boss))[0] == 20_000, number
        assert house.head(child.session_id).budget.token_budget == 20_000, number
        house.run()
        house.recover()
        house.run()
        assert house.head(child.session_id).state == "completed", number


def test_a_raise_beyond_what_the_parent_has_left_says_what_it_has_and_reserves_nothing() -> None:
    house, boss, child = asking()
    (one,) = child.interventions
    left = one.context["given_by"]["token_budget_left"]
    with pytest.raises(ValidationFailed) as refused:
        house.resolve(child.session_id, one, "raise", token_budget=4_500 + left + 1)
    assert refused.value.details is not None
    (said,) = refused.value.details["input.token_budget"]
    assert f"at most {4_500 + left:,}" in said
    assert f"boss ({boss})" in said
    assert reserved(house.head(boss))[0] == 4_500

    house.limit(boss, token_budget=60_000)
    house.resolve(child.session_id, one, "raise", token_budget=4_500 + left + 1)
    assert reserved(house.head(boss))[0] == 4_500 + left + 1


def test_dollars_are_taken_from_the_parent_as_tokens_are() -> None:
    agents = {**MEAN, "worker": {"model": MODEL, "limits": {"cost_budget_usd": 0.043}}}
    house, boss, child = asking(agents, cost_budget_usd=0.3)
    (one,) = child.interventions
    with pytest.raises(ValidationFailed) as refused:
        house.resolve(child.session_id, one, "raise", cost_budget_usd=0.31)
    assert "raise its cost_budget_usd first" in refused.value.details["input.cost_budget_usd"][0]  # type: ignore[index]
    house.resolve(child.session_id, one, "raise", cost_budget_usd=0.2)
    assert reserved(house.head(boss))[1] == pytest.approx(0.2)
    house.run()


def test_caps_of_the_entry_hold_for_a_raise() -> None:
    agents = {
        **MEAN,
        "boss": {"agents": [{"agent": "worker", "caps": {"token_budget": 7_000}}], "model": MODEL},
    }
    house, _, child = asking(agents)
    (one,) = child.interventions
    with pytest.raises(Forbidden):
        house.resolve(child.session_id, one, "raise", token_budget=7_001)
    house.resolve(child.session_id, one, "raise", token_budget=7_000)


def test_a_change_of_a_childs_limits_is_taken_from_its_parent() -> None:
    house = TreeHouse(
        {"boss": HUNGRY["boss"], "worker": [says("", call("wait_until", seconds=86_400)), says("Written.")]},
        MEAN,
    )
    boss = house.begin("boss", token_budget=30_000).session_id
    house.run()
    (child,) = house.children(boss)
    house.limit(child.session_id, token_budget=9_000)
    assert reserved(house.head(boss))[0] == 9_000
    with pytest.raises(ValidationFailed):
        house.limit(child.session_id, token_budget=90_000)
    house.limit(child.session_id, token_budget=5_000)
    assert reserved(house.head(boss))[0] == 9_000, "it goes back at the child's end"


def test_a_parents_limit_stays_above_what_its_children_may_still_use() -> None:
    house, boss, _ = asking()
    used = all_tokens(house.head(boss).budget)
    with pytest.raises(ValidationFailed) as refused:
        house.limit(boss, token_budget=used + 4_500)
    assert "sub-agents at work" in refused.value.details["token_budget"][0]  # type: ignore[index]
    house.limit(boss, token_budget=used + 4_501)


def test_what_is_left_of_a_map_that_the_budget_does_not_carry_is_told_as_not_started() -> None:
    house = TreeHouse(HUNGRY, MEAN)
    boss = house.begin("boss", token_budget=5_000).session_id
    house.run()
    (child,) = house.children(boss)
    house.resolve(child.session_id, child.interventions[0], "finish")
    house.run()
    ((text, ok),) = house.results(boss)
    assert not ok
    assert '"item": 2, "state": "not_started"' in text
    assert house.head(boss).budget.children_tokens == all_tokens(house.head(child.session_id).budget)


@pytest.mark.parametrize("single_first", [True, False])
def test_calls_of_one_reply_share_what_is_free_so_that_their_children_work_side_by_side(
    single_first: bool,
) -> None:
    calls = [call("worker", goal="Write it"), call("helper", goal="Write", map=["a", "b", "c"])]
    asks = [says("", call("create_file", path="x.md", content="x")), says("Written.")]
    scripts = {"boss": [says("", *calls[:: 1 if single_first else -1]), says("Done.")]}
    careful = {"model": MODEL, "high_stakes": ["create_file"]}
    both = {"worker": careful, "helper": careful}
    agents: Any = {"boss": {"agents": [{"agent": name} for name in both], "model": MODEL}, **both}
    house = TreeHouse({**scripts, "worker": asks, "helper": asks}, agents)
    boss = house.begin("boss", token_budget=200_000, cost_budget_usd=4.0).session_id
    house.run()
    children = house.children(boss)
    assert len(children) == 4
    tokens = [child.budget.token_budget for child in children]
    assert max(tokens) - min(tokens) <= 1
    assert sum(tokens) == reserved(house.head(boss))[0] > 195_000
    assert all(0.99 < (child.budget.cost_budget_usd or 0) <= 1 for child in children)


def test_calls_of_one_reply_of_which_the_budget_carries_one_are_made_one_after_the_other() -> None:
    scripts = {
        "boss": [says("", *(call("worker", goal=goal) for goal in "ab")), says("Done.")],
        "worker": [says("Written.")],
    }
    house = TreeHouse(scripts, {**MEAN, "worker": {"model": MODEL}})
    boss = house.begin("boss", token_budget=4_000).session_id
    house.run()
    (first, _) = house.results(boss)
    assert first[1]
    assert house.children(boss)[0].budget.token_budget > 2_500


def test_the_tenants_hour_is_charged_once_for_a_tree() -> None:
    house = TreeHouse(TREE, AGENTS, tenant_tokens_per_hour=10_000_000)
    boss = house.begin("boss", token_budget=200_000).session_id
    house.run()
    assert house.head(boss).state == "completed"
    taken = house.index.granted_tokens(TENANT, hour_of(house.clock.now()))
    assert taken == all_tokens(house.head(boss).budget)


def test_a_child_has_the_steps_that_its_entry_allows() -> None:
    agents = {**MEAN, "boss": {"agents": [{"agent": "worker", "caps": {"max_steps": 3}}], "model": MODEL}}
    _house, _, child = asking(agents)
    assert child.max_steps == 3
    assert child.run is not None
    assert child.run.max_steps == 3
