"""What is put beside Acta is billed by the same rules, and a run that ended is told from one that did not."""

import pytest

from tests.bench.beside import acta, ends
from tests.bench.beside.bill import in_one_process, of_requests, per_turn
from tests.bench.beside.prices import Bill
from tests.bench.stand.capacity import Capacity
from tests.bench.stand.exchange import Exchange, exchange
from tests.bench.stand.history import TurnHistory
from tests.bench.stand.work import Run


def s3(method: str, path: str, status: int = 200) -> Exchange:
    return exchange(method, path, {}, b"", status, b"", sent=100, received=50)


def write(units: float) -> Exchange:
    return Exchange("dynamodb", "PutItem", sent=900, received=200, status=200, capacity=Capacity(wcu=units))


def test_a_list_is_billed_as_a_put_a_head_as_a_get_and_a_delete_not_at_all() -> None:
    passed = [
        s3("PUT", "/b/k"),
        s3("GET", "/b?list-type=2"),
        s3("GET", "/b/k"),
        s3("HEAD", "/b/k", 404),
        s3("DELETE", "/b/k"),
    ]
    bill = of_requests(passed)
    assert (bill.requests, bill.s3_puts, bill.s3_gets) == (5, 2, 2)
    assert bill.dollars == pytest.approx(2 * 5e-6 + 2 * 0.4e-6)


def test_an_s3_put_weighs_as_many_write_units_as_it_costs() -> None:
    assert Bill(wcu=3, s3_puts=2).write_units_by_price == 19


def test_a_loop_in_one_lambda_is_invoked_again_when_its_time_is_over() -> None:
    assert in_one_process([], 100).lambda_invocations == 1
    assert in_one_process([], 200).lambda_invocations == 2


def test_figures_of_a_turn_are_means_over_the_session() -> None:
    row = per_turn(of_requests([write(4), write(2)]), 2)
    assert (row["dynamodb_writes"], row["wcu"]) == (1, 3)
    assert row["usd"] == pytest.approx(3 * 0.625e-6)


def test_a_session_of_acta_pays_for_its_start_and_for_what_looks_at_its_end() -> None:
    run = Run(
        session_id="ses_1",
        executions=2,
        turns=[[]] * 4,
        histories=[],
        model_bytes=0,
        process_ms=(),
        passed=[write(6)],
        engine=TurnHistory(20, 90, 10, 0, 0, 0),
    )
    bill = acta.bill(run)
    assert (bill.transitions, bill.lambda_invocations, bill.gateway_requests, bill.wcu) == (20, 13, 1, 6)
    assert acta.figures(run)["transitions"] == 4


def finished(turns: int, item: int) -> dict[str, object]:
    return {"turns_done": turns, "largest_item_bytes": item}


def test_an_item_that_grows_with_the_session_is_followed_to_its_limit() -> None:
    growing = {"20": finished(20, 40_000), "100": finished(100, 200_000)}
    assert ends.of("langgraph", growing) == "turn 205, extrapolated: an item of 400 KB"
    assert "extrapolated" not in ends.of("langgraph_packed", growing)


def test_an_item_that_stays_as_it_is_ends_nothing() -> None:
    assert ends.of("floor", {"20": finished(20, 1_191), "100": finished(100, 1_207)}).startswith(
        "not within 100 turns"
    )


def test_a_run_that_ended_is_measured_and_says_by_what() -> None:
    ended = {
        **finished(147, 400_000),
        "ended_by": "ClientError",
        "message": "An error occurred: Item size has exceeded the maximum allowed size",
    }
    assert ends.of("langgraph", {"100": finished(100, 276_000), "147": ended}) == (
        "after turn 147, measured (ClientError: Item size has exceeded the maximum allowed size)"
    )
