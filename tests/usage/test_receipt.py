"""What AWS asks is estimated from the counts of a head; what models cost is counted."""

from datetime import UTC, datetime
from typing import Any

import pytest

from acta.engine.log.head import Budget, Head, Usage
from acta.engine.usage.aws_estimate import USES, AwsRates, AwsUse, estimated, priced, receipt_of
from acta.engine.usage.aws_prices import LISTS, AwsPrices, prices_in
from acta.engine.usage.tally import MAX_MODELS, OTHER_MODELS, Done, ModelUse, Tally

NOW = datetime(2026, 11, 20, tzinfo=UTC)
US = AwsRates(LISTS["us-east-1"])
TEN_READS = Done(runs=1, user_messages=1, tools_ok=10, calling_turns=10)


def head(calls: int = 0, **tally: Any) -> Head:
    return Head(
        tenant="t",
        session_id="ses_1",
        agent_id="default",
        created_by="ann",
        state="idle",
        created_at=NOW,
        updated_at=NOW,
        budget=Budget(token_budget=1),
        max_steps=5,
        usage=Usage(llm_calls=calls),
        tally=Tally(**tally),
    )


def test_every_amount_is_what_was_used_times_its_price() -> None:
    use = AwsUse(
        transitions=200,
        step_invocations=50,
        step_ms=250_000,
        write_units=300,
        read_units=150,
        gets=50,
        puts=10,
    )

    found = priced(use, US._replace(step_memory_mb=1_024))

    assert found.step_functions_usd == 0.005
    assert found.lambda_usd == pytest.approx(50 * 0.0000002 + 250 * 0.0000133334, abs=1e-9)
    assert found.dynamodb_usd == pytest.approx(300 * 0.000000625 + 150 * 0.000000125, abs=1e-9)
    assert found.s3_usd == pytest.approx(50 * 0.0000004 + 10 * 0.000005, abs=1e-9)
    assert found.usd == pytest.approx(0.005 + 0.00334335 + 0.00020625 + 0.00007, abs=1e-8)
    elsewhere = priced(use, US._replace(step_memory_mb=1_024, architecture="x86_64"))
    assert elsewhere.lambda_usd == pytest.approx(0.00417668, abs=1e-8)


def test_what_is_done_is_multiplied_by_what_one_of_it_uses() -> None:
    once, twice = estimated(TEN_READS, 12, US).use, estimated(Done(*(2 * n for n in TEN_READS)), 24, US).use
    assert twice == pytest.approx(tuple(2 * each for each in once))

    waited = estimated(TEN_READS._replace(waits=1), 12, US).use
    assert waited == pytest.approx(once.plus(USES["wait"]))


def test_fused_turns_and_calls_pass_no_states() -> None:
    apart = estimated(TEN_READS, 12, US).use
    fused = estimated(TEN_READS._replace(fused_turns=11, fused_calls=10), 12, US).use

    assert apart.transitions == 2 * 12 + 10 + 10 + 2
    assert fused.transitions == 2 + 2
    assert (fused.tool_invocations, fused.step_invocations) == (0, 1)
    assert fused.write_units == apart.write_units


def test_the_time_that_functions_waited_is_in_the_estimate_as_it_was() -> None:
    waited = estimated(TEN_READS._replace(step_ms=5_000, tool_ms=700), 12, US)
    at_once = estimated(TEN_READS, 12, US)

    assert waited.use.step_ms - at_once.use.step_ms == pytest.approx(5_000)
    assert waited.gb_seconds - at_once.gb_seconds == pytest.approx(5.7 / 2)


def test_the_amount_of_an_unknown_price_is_unknown_and_so_is_every_sum_with_it() -> None:
    own = head(2, done=Done(runs=1), models={"own": ModelUse(2, 10, 0, 1, 0, unpriced=1)})

    unlisted = receipt_of(own, AwsRates(prices_in("moon-1"))).aws
    listed = receipt_of(own, US)

    assert (unlisted.step_functions_usd, unlisted.dynamodb_usd, unlisted.usd) == (None, None, None)
    assert listed.aws.usd is not None
    assert (listed.models_usd, listed.total_usd) == (None, None)
    assert priced(AwsUse(gets=1), AwsRates(prices_in("moon-1"))).dynamodb_usd == 0.0, "nothing was used of it"


def test_a_receipt_is_the_models_and_the_estimate() -> None:
    found = receipt_of(head(50, done=TEN_READS, models={"claude": ModelUse(50, microdollars=280_000)}), US)

    assert found.models_usd == 0.28
    assert found.total_usd == pytest.approx(0.28 + (found.aws.usd or 0), abs=1e-9)


def test_models_beyond_the_most_are_summed_as_others() -> None:
    tally = Tally()
    for number in range(MAX_MODELS + 5):
        tally = tally.with_call(f"model-{number}", ModelUse(1, 10, 0, 1, 7, 0))

    assert len(tally.models) == MAX_MODELS + 1
    assert tally.models[OTHER_MODELS] == ModelUse(5, 50, 0, 5, 35, 0)
    assert tally.with_call("model-0", ModelUse(calls=1)).models["model-0"].calls == 2


def test_a_price_below_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="0 or more"):
        AwsPrices(region="r", as_of="2026-11-20", source="contract", transition=-1)
