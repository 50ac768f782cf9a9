"""The sums of a head, and the receipt that is made from them."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from shared.domain.session.commit import Commit, Decision, Position
from shared.domain.session.head import Budget, Head
from shared.domain.spending.aws_prices import LISTS, AwsPrices, prices_in
from shared.domain.spending.receipt import receipt_of
from shared.domain.spending.spent import MAX_MODELS, OTHERS, FunctionUse, ModelUse, Spent
from shared.domain.spending.used import Used

NOW = datetime(2026, 11, 20, tzinfo=UTC)
US = LISTS["us-east-1"]


def head(**fields: Any) -> Head:
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
        **fields,
    )


def commit(number: int = 1, **fields: Any) -> Commit:
    return Commit(number=number, key="k", at=NOW + timedelta(seconds=number), head=head(), **fields)


USED = Used("step", 1_024, 1, 2_000, 2, reads=2, half_rru=6, writes=1, wcu=1, gets=3, puts=4)


def test_a_commit_adds_what_was_used_and_its_own_write_to_the_sums() -> None:
    first = commit().counting(USED).counting_write(2)
    second = first.counting(USED._replace(function="tool", memory_mb=512)).counting(USED).counting_write(1)

    spent = second.head.spent
    assert spent is not None
    assert spent.functions == {
        "step": FunctionUse(2, 4_000, 4_096_000),
        "tool": FunctionUse(1, 2_000, 1_024_000),
    }
    assert (spent.stores.reads, spent.stores.half_rru, spent.stores.gets, spent.stores.puts) == (6, 18, 9, 12)
    assert (spent.stores.writes, spent.stores.wcu) == (3 + 2, 3 + 3)
    assert spent.transitions == 6


def test_every_amount_is_its_count_times_its_price() -> None:
    spent = Spent(
        transitions=200,
        functions={"step": FunctionUse(50, 250_000, 250_000 * 1_024)},
        models={"claude": ModelUse(50, 1_200_000, 1_000_000, 10_000, 280_000, 0)},
    ).with_invocation(Used(wcu=300, half_rru=300, gets=50, puts=10))

    receipt = receipt_of(head(spent=spent), US, "aarch64")

    assert receipt.step_functions_usd == 0.005
    assert receipt.lambda_usd == pytest.approx(50 * 0.0000002 + 250 * 0.0000133334, abs=1e-9)
    assert receipt.dynamodb_usd == pytest.approx(300 * 0.000000625 + 150 * 0.000000125, abs=1e-9)
    assert receipt.s3_usd == pytest.approx(50 * 0.0000004 + 10 * 0.000005, abs=1e-9)
    assert receipt.models_usd == 0.28
    assert receipt.total_usd == pytest.approx(0.28 + (receipt.aws_usd or 0), abs=1e-9)
    assert receipt_of(head(spent=spent), US, "x86_64").lambda_usd == pytest.approx(0.00417668, abs=1e-8)


def test_the_amount_of_an_unknown_price_is_unknown_and_so_is_every_sum_with_it() -> None:
    spent = Spent(transitions=1, models={"own": ModelUse(2, 10, 0, 1, 0, unpriced=1)})
    spent = spent.with_invocation(Used(gets=1))

    unlisted = receipt_of(head(spent=spent), prices_in("moon-1"), "arm64")
    listed = receipt_of(head(spent=spent), US, "arm64")

    assert (unlisted.step_functions_usd, unlisted.s3_usd, unlisted.aws_usd) == (None, None, None)
    assert unlisted.dynamodb_usd == 0.0  # nothing was used of it
    assert listed.aws_usd is not None
    assert (listed.models[0].usd, listed.models_usd, listed.total_usd) == (None, None, None)


def test_a_session_whose_commits_all_came_from_a_release_before_has_no_amounts() -> None:
    receipt = receipt_of(head(), US, "arm64")

    assert (receipt.since, receipt.is_whole) == (None, False)
    assert (receipt.models_usd, receipt.aws_usd, receipt.total_usd) == (None, None, None)


def test_a_receipt_says_since_when_it_counts_where_a_release_before_made_the_first_commits() -> None:
    later, own = commit(7).counting(USED), commit(1).counting(USED)

    assert receipt_of(later.head, US, "arm64")[:2] == (NOW + timedelta(seconds=7), False)
    assert receipt_of(own.head, US, "arm64")[:2] == (NOW, True)


def test_a_commit_in_the_version_before_counts_nothing() -> None:
    old = commit(version=1)

    assert old.counting(USED).counting_write(3) == old


def test_models_beyond_the_most_are_summed_as_others() -> None:
    spent = Spent()
    for number in range(MAX_MODELS + 5):
        spent = spent.with_call(f"model-{number}", ModelUse(1, 10, 0, 1, 7, 0))

    assert len(spent.models) == MAX_MODELS + 1
    assert spent.models[OTHERS] == ModelUse(5, 50, 0, 5, 35, 0)
    assert spent.with_call("model-0", ModelUse(calls=1)).models["model-0"].calls == 2


def test_a_decision_is_good_for_the_states_that_no_invocation_counts() -> None:
    at = Position(tenant="t", session_id="s", run_id="r", generation=1, turn=1, first=1)

    assert commit(decision=Decision(next="act", at=at, calls=("a", "b"))).transitions == 1
    assert commit(decision=Decision(next="think", at=at)).transitions == 0
    assert commit().transitions == 0


def test_a_price_below_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="0 or more"):
        AwsPrices(region="r", as_of="2026-11-20", source="contract", transition=-1)
