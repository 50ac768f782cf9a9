"""`acta doctor --repair`: what it asks for, and how it reports what was done."""

from argparse import Namespace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from acta.cli.exit_codes import CliError
from acta.cli.main import main
from acta.cli.operations.repair import COUNTS, OUTCOMES, ago, report_lines, request_for
from acta.engine.recovery.recover import RecoveryResult
from acta.engine.recovery.store import RoundCounts

QUIET = RoundCounts()._asdict()


def given(**arguments: str) -> Namespace:
    return Namespace(
        **{"session": None, "tenant": None, "env": None, "failed_since": None, "yes": False, **arguments}
    )


def test_without_a_session_everything_is_looked_at() -> None:
    assert request_for(given()) == request_for(given(env="dev")) == {"repair": True}


def test_a_session_is_somebody_s_and_on_the_local_stack_the_demo_tenant_s() -> None:
    assert request_for(given(session="s")) == {"repair": {"tenant": "demo", "session_id": "s"}}
    one = request_for(given(session="s", tenant="acme", env="prod"))
    assert one == {"repair": {"tenant": "acme", "session_id": "s"}}
    for wrong in (given(session="s", env="prod"), given(tenant="acme")):
        with pytest.raises(CliError, match="--tenant"):
            request_for(wrong)


def test_every_outcome_and_every_count_has_its_words() -> None:
    assert set(OUTCOMES) == set(RecoveryResult.__args__)  # type: ignore[attr-defined]
    told = {*COUNTS, "looked", "unreadable", "unanswered", "left", "unread"}
    assert told == set(RoundCounts._fields) - {"put_off"}  # a repair puts nothing off


def test_what_was_done_is_reported_and_what_was_not_done_is_not() -> None:
    assert list(report_lines(QUIET | {"looked": 1}, "dev")) == ["looked at 1 session: nothing to repair"]
    did = {"looked": 7, "restarted": 2, "unreadable": 1, "left": 3, "unread": 5, "unanswered": 4}
    assert list(report_lines(QUIET | did, "dev")) == [
        "looked at 7 sessions: 2 went on in a new execution",
        "1 could not be looked at: the log of acta-dev-recover says which and why",
        "AWS throttled or did not answer 4 of the requests: repair again",
        "3 were left for lack of time: repair again",
        "there was no time to look for all of them: repair again",
    ]


def test_without_a_stack_or_without_repair_one_line_says_what_is_wrong(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["doctor", "--repair", "--state", str(tmp_path)]) == 2
    assert main(["doctor", "--session", "s"]) == 2
    first, second = capsys.readouterr().err.splitlines()
    assert "no local stack serves" in first
    assert "--repair" in second


@pytest.mark.parametrize(("said", "minutes"), [("90m", 90), ("2h", 120), ("1d", 1_440)])
def test_since_when_is_said_in_minutes_hours_or_days(said: str, minutes: int) -> None:
    now = datetime(2026, 1, 2, tzinfo=UTC)
    assert ago(said, now) == now - timedelta(minutes=minutes)


@pytest.mark.parametrize("said", ["", "2", "h", "0h", "2 h", "2w", "-2h", "999999h"])
def test_what_is_no_such_time_is_refused(said: str) -> None:
    with pytest.raises(CliError, match="2h"):
        ago(said, datetime(2026, 1, 2, tzinfo=UTC))


@pytest.mark.parametrize(
    ("options", "what"),
    [
        (["--failed-since", "2h", "--session", "s"], "--session"),
        (["--failed-since", "soon"], "90m"),
        (["--yes"], "--failed-since"),
    ],
)
def test_options_that_do_not_fit_are_refused_before_anything_is_asked(
    options: list[str], what: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["doctor", "--repair", *options]) == 2
    assert what in capsys.readouterr().err
