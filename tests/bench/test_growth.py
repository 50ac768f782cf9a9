"""A figure that is not the same late in a session as early in it is named, with both values."""

import pytest

from tests.bench import growth
from tests.bench.figures import cpu
from tests.bench.growth import Moved
from tests.bench.stand import work
from tests.bench.stand.capacity import Capacity
from tests.bench.stand.exchange import Exchange
from tests.bench.stand.history import TurnHistory


def spent(total: float) -> cpu.Spent:
    return cpu.Spent(total, sdk=1, modules=(), probe=1)


def cpu_of(steps: list[float]) -> dict[str, float]:
    return cpu.figures(cpu.Turns([(spent(step), spent(2)) for step in steps], (spent(0), spent(0))))


def run(
    turns: int, *, more_writes: frozenset[int] = frozenset(), process_ms: tuple[float, ...] = ()
) -> work.Run:
    """Each turn one write of one unit; two in those named."""
    write = Exchange("dynamodb", "PutItem", sent=700, received=300, status=200, capacity=Capacity(wcu=1))
    state = TurnHistory(transitions=4, events=18, lambda_invokes=2, payload=440, payloads=900, tasks=800)
    return work.Run(
        session_id="ses_1",
        executions=1,
        turns=[[write] * (2 if turn in more_writes else 1) for turn in range(turns)],
        histories=[state] * turns,
        model_bytes=10_000,
        process_ms=process_ms,
    )


def test_cpu_that_triples_is_not_flat() -> None:
    figures = cpu_of([8 + 18 * turn / 99 for turn in range(100)])

    moved = {one.name: (round(one.first), round(one.last)) for one in growth.moved(figures, 100)}
    assert moved == {"cpu_ms": (11, 23), "cpu_ms_step": (10, 22)}
    assert growth.judged(figures, 100)["flat"] == 0


def test_cpu_that_other_work_on_the_machine_moves_is_flat() -> None:
    figures = cpu_of([5.0] * 50 + [5.9] * 50)

    assert growth.moved(figures, 100) == []
    assert growth.judged(figures, 100)["flat"] == 1


def test_the_cpu_of_a_short_run_says_nothing_of_growth() -> None:
    figures = cpu_of([8.0, 8.0, 8.0, 26.0])

    assert growth.moved(figures, 5) == []


def test_cpu_that_stays_above_what_a_turn_may_take_is_not_flat() -> None:
    figures = cpu_of([9.0] * 100)

    assert [one.name for one in growth.moved(figures, 100)] == ["cpu_ms"]


def test_cpu_with_the_sdk_in_it_is_told_and_not_judged(capsys: pytest.CaptureFixture[str]) -> None:
    figures = work.figures(run(100, process_ms=(20.0, 10.0, 30.0)))

    assert growth.moved(figures, 100) == []
    assert growth.grown_with_the_request(figures) == [Moved("cpu_ms_deployed", 10, 30)]
    growth.report_the_sdk("40KB x100", figures, 100)
    assert "cpu ms deployed 10 -> 30" in capsys.readouterr().out


def test_a_run_that_is_not_flat_is_named_for_the_exit_code() -> None:
    steady, grows = (
        growth.judged(cpu_of([5.0] * 100), 100),
        growth.judged(cpu_of([2.0] * 50 + [6.0] * 50), 100),
    )

    assert growth.not_flat({"turns": {"2KB": {"100": steady}}, "long": {"plain": steady}}) == []
    assert growth.not_flat({"turns": {"2KB": {"100": steady}, "40KB": {"100": grows}}}) == ["40KB x100"]
    assert growth.not_flat({"long": {"plain": grows}}) == ["the long session"]
    assert growth.not_flat({"prefix": {}}) == []


def test_a_write_more_in_each_later_turn_is_not_flat_however_short_the_run() -> None:
    figures = work.figures(run(6, more_writes=frozenset({4, 5})))

    moved = growth.moved(figures, 6)
    assert {one.name for one in moved} == {
        "dynamodb_requests", "dynamodb_writes", "wcu", "wcu_calls", "bytes_out", "bytes_in",
    }  # fmt: skip
    assert Moved("wcu", 1, 2) in moved


def test_a_segment_in_one_of_many_turns_is_told_apart_and_is_no_growth() -> None:
    put = Exchange(
        "s3",
        "PutObject",
        sent=90_000,
        received=300,
        status=200,
        key="sessions/t/ses_1/conversation-0000000032",
    )
    of_turns = run(6)
    found = work.figures(of_turns._replace(turns=[*of_turns.turns[:5], [*of_turns.turns[5], put]]))

    assert growth.moved(found, 6) == []
    assert (found["s3_segment_puts"], found["segment_bytes_out"]) == (1 / 6, 15_000)
    assert found["s3_requests"] == 1 / 6


def test_one_roll_over_in_many_turns_is_no_growth() -> None:
    assert growth.moved(work.figures(run(90, more_writes=frozenset({80}))), 90) == []


def test_the_line_names_what_moved_and_both_figures(capsys: pytest.CaptureFixture[str]) -> None:
    growth.report("40KB x100", [Moved("cpu_ms", 8.12, 26), Moved("wcu", 5, 6)])
    growth.report("2KB x100", [])

    assert (
        capsys.readouterr().out
        == "40KB x100 is not flat, first third -> last: cpu ms 8.1 -> 26, wcu 5 -> 6\n"
    )
