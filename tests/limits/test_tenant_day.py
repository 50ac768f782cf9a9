"""What all sessions of a tenant cost in a day stays under its dollars; beyond them they wait (docs/design/budgets.md
26)."""

from datetime import timedelta

from acta.engine.agents.agent import DEFAULT_AGENT, AgentDefinition, built_in
from acta.engine.limits.shares import PER_DOLLAR, day_of
from acta.engine.models.model import TokenUsage
from acta.engine.models.providers import PROVIDERS, NamedModel, cost_usd, dearest_usd, most_usd
from acta.engine.turn.budget import reserve
from tests.in_process.house import TENANT, House
from tests.in_process.scripted import ScriptedModel, call, completes, plans, says, step

MODEL = "claude-sonnet-4-5"
DEAR = TokenUsage(input=4_000, output=100)
"""Of the model it costs 1.35 cents; the call's reservation, with all the output that it may write, some 7 cents."""


def house_of(usd: dict[str, float], turns: int = 6, model: str = MODEL) -> House:
    looks = [says("", call("list_files", path=f"folder{n}")) for n in range(turns)]
    script = [plans("look"), *looks, says("", step(1, "completed", "ok")), completes("Done.")]
    scripted = ScriptedModel([each._replace(usage=DEAR, model=model) for each in script], forever=True)
    scripted.provider = "anthropic"
    house = House(scripted, usd_per_day=usd)
    named = AgentDefinition(agent_id=DEFAULT_AGENT, name="A", version=1, model=model)
    house.definitions.replace_agent(TENANT, built_in(), named)
    return house


def granted(house: House) -> float:
    return house.index.granted_tokens(TENANT, day_of(house.clock.now()), of_day=True) / PER_DOLLAR


def test_a_session_takes_dollars_in_advance_and_gives_back_what_it_has_not_spent() -> None:
    house = house_of({"*": 100})
    session = house.start("Look").session_id
    house.run()
    head = house.head(session)
    assert (head.state, head.day_lease) == ("completed", None)
    assert head.usage.cost_usd is not None
    assert abs(granted(house) - head.usage.cost_usd) < 0.0002


def test_beyond_the_day_s_dollars_a_run_waits_for_the_next_day_and_goes_on_by_itself() -> None:
    house = house_of({"*": 0.1})
    session = house.start("Look").session_id
    house.run()
    head = house.head(session)
    assert head.usage.cost_usd is not None
    assert 0 < head.usage.cost_usd <= granted(house) <= 0.1
    (asked,) = head.interventions
    midnight = (house.clock.now() + timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0)
    assert (asked.type, asked.timeout_at, asked.default_action) == ("budget_exceeded", midnight, "continue")
    assert (asked.context["scope"], asked.context["usd_per_day"]) == ("tenant", 0.1)
    assert asked.context["question"] == "The tenant's dollars of this day are used up."
    house.clock.advance((midnight - house.clock.now()).total_seconds() + 1)
    house.time_out(session)
    house.run()
    assert house.head(session).usage.llm_calls > head.usage.llm_calls


def test_all_sessions_of_a_tenant_stay_under_its_dollars_and_another_tenant_has_its_own() -> None:
    house = house_of({"*": 5.0, TENANT: 0.3}, turns=20)
    sessions = [house.start("Look").session_id for _ in range(8)]
    house.run()
    spent = sum(house.head(each).usage.cost_usd or 0 for each in sessions)
    assert 0.15 < spent <= granted(house) <= 0.3


def test_a_tenant_without_such_a_limit_leases_nothing() -> None:
    house = house_of({"globex": 1.0})
    session = house.start("Look").session_id
    house.run()
    assert house.head(session).state == "completed"
    assert granted(house) == 0


def test_a_model_without_a_known_price_counts_as_the_dearest_one() -> None:
    assert cost_usd("anthropic", "of-next-year", DEAR) is None
    house = house_of({"*": 100}, model="of-next-year")
    session = house.start("Look").session_id
    house.run()
    assert house.head(session).usage.cost_usd is None
    calls = house.head(session).usage.llm_calls
    assert abs(granted(house) - calls * dearest_usd(DEAR.input, DEAR.output)) < 0.001
    dearest = max(
        row.price.rates.output
        for one in PROVIDERS.values()
        for row in one.models.values()
        if row.price is not None
    )
    assert dearest_usd(0, 1_000_000) >= dearest / 1_000


def test_a_fallback_without_a_known_price_counts_as_the_dearest_one_beside_a_cheap_model() -> None:
    fallback = NamedModel("bedrock", "global.anthropic.claude-opus-4-5")
    cheap = NamedModel("openai", "gpt-5-nano")
    script = [plans("look"), says("", step(1, "completed", "ok")), completes("Done.")]
    answers = [each._replace(usage=DEAR, model=fallback.model, provider=fallback.provider) for each in script]
    scripted = ScriptedModel(answers, forever=True)
    scripted.provider = cheap.provider
    house = House(scripted, usd_per_day={"*": 100})
    named = AgentDefinition(
        agent_id=DEFAULT_AGENT, name="A", version=1, provider=cheap.provider, model=cheap.model
    )
    house.definitions.replace_agent(TENANT, built_in(), named)
    session = house.start("Look").session_id
    house.run()
    calls = house.head(session).usage.llm_calls
    assert calls == len(script)
    assert abs(granted(house) - calls * dearest_usd(DEAR.input, DEAR.output)) < 0.001
    reserved = reserve(house.head(session), 3_000, 4_096, (cheap, fallback))
    assert reserved is not None
    assert reserved.usd == most_usd((cheap,), reserved.input, reserved.output)
    assert reserved.day_usd == dearest_usd(reserved.input, reserved.output)
