"""`acta doctor --repair --failed-since`: what is listed, when it is repaired, and how it ends."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, get_args

import pytest

from acta.cli.exit_codes import CliError
from acta.cli.operations.repair import (
    AT_ONCE,
    FAULTS,
    MOST_STANDSTILLS,
    REPAIRED,
    REST,
    World,
    repair_failed,
)
from acta.engine.recovery.recovery import MOST_REPAIRED
from acta.engine.recovery.repair import RepairOutcome

SINCE = datetime(2026, 7, 29, 10, 0, tzinfo=UTC)

ASKED = {"failed_since": "2026-07-29T10:00:00+00:00", "tenant": None, "cursor": None}

Screen = pytest.CaptureFixture[str]


def failed(number: int) -> dict[str, str]:
    return {
        "tenant": "acme",
        "session_id": f"ses_{number}",
        "code": "PROVIDER_TIMEOUT",
        "failed_at": "2026-07-29T13:30:00.123+02:00",
    }


def part(*sessions: Mapping[str, str], cursor: str | None = None, **counts: int) -> dict[str, Any]:
    return {
        "sessions": list(sessions),
        "cursor": cursor,
        "complete": cursor is None,
        "unreadable": 0,
        "unanswered": 0,
        **counts,
    }


class Deployment:
    """Answers with these parts of the listing, and with these outcomes; the last one of them again and again."""

    def __init__(self, *parts: dict[str, Any], outcomes: Mapping[str, list[str]] | None = None) -> None:
        self.parts = list(parts)
        self.outcomes = {session_id: list(each) for session_id, each in (outcomes or {}).items()}
        self.requests: list[Any] = []
        self.paused: list[float] = []
        self.questions: list[str] = []

    def __call__(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        wanted = request["repair"]
        self.requests.append(wanted)
        if "failed_since" in wanted:
            return self.parts.pop(0) if len(self.parts) > 1 else self.parts[0]
        return {"outcomes": [self.outcome(one["session_id"]) for one in wanted["sessions"]]}

    def outcome(self, session_id: str) -> str:
        left = self.outcomes.get(session_id, ["restarted"])
        return left.pop(0) if len(left) > 1 else left[0]

    def run(self, *, yes: bool = False, answer: bool | None = None, tenant: str | None = None) -> int:
        """`answer`: of the person at the terminal; None: there is none."""

        def ask(question: str) -> bool:
            self.questions.append(question)
            return bool(answer)

        asks: Callable[[str], bool] | None = None if answer is None else ask
        return repair_failed(self, SINCE, tenant, yes=yes, world=World(asks, self.paused.append))

    @property
    def repaired(self) -> list[str]:
        return [one["session_id"] for request in self.requests for one in request.get("sessions", ())]


def test_without_a_terminal_and_without_yes_they_are_listed_and_no_more(capsys: Screen) -> None:
    deployment = Deployment(part(failed(1), failed(2)))
    assert deployment.run() == 5
    assert deployment.requests == [ASKED]
    assert capsys.readouterr().out.splitlines() == [
        "ses_1  2026-07-29 11:30:00  PROVIDER_TIMEOUT          acme",
        "ses_2  2026-07-29 11:30:00  PROVIDER_TIMEOUT          acme",
        "2 sessions failed since 2026-07-29 10:00:00 UTC for a reason that lies outside of the session",
        "nothing was repaired: --yes repairs them",
    ]


def test_with_yes_they_are_repaired_without_a_question(capsys: Screen) -> None:
    deployment = Deployment(part(failed(1)))
    assert deployment.run(yes=True, answer=False) == 0
    assert (deployment.questions, deployment.repaired) == ([], ["ses_1"])
    assert deployment.requests[-1] == {"sessions": [{"tenant": "acme", "session_id": "ses_1"}]}
    assert capsys.readouterr().out.splitlines()[-1] == "repaired 1 of 1 session"


@pytest.mark.parametrize(("answer", "code", "repaired"), [(True, 0, ["ses_1"]), (False, 5, [])])
def test_a_person_at_the_terminal_is_asked(answer: bool, code: int, repaired: list[str]) -> None:
    deployment = Deployment(part(failed(1)))
    assert deployment.run(answer=answer) == code
    assert deployment.questions == ["Repair 1 session? [y/N] "]
    assert deployment.repaired == repaired


def test_the_sessions_may_be_one_tenant_s() -> None:
    deployment = Deployment(part())
    deployment.run(tenant="acme")
    assert deployment.requests == [{**ASKED, "tenant": "acme"}]


def test_where_nothing_failed_nothing_is_asked(capsys: Screen) -> None:
    deployment = Deployment(part())
    assert deployment.run(answer=True) == 0
    assert (deployment.questions, deployment.repaired) == ([], [])
    assert capsys.readouterr().out.startswith("0 sessions failed since")


def test_however_many_there_are_they_come_in_parts_and_are_repaired_in_parts() -> None:
    numbers = range(3 * AT_ONCE + 1)
    parts = [part(failed(n), cursor=f"after {n}") for n in numbers]
    deployment = Deployment(*parts, part())
    assert deployment.run(yes=True) == 0
    cursors = [request["cursor"] for request in deployment.requests if "failed_since" in request]
    assert cursors == [None, *(f"after {n}" for n in numbers)]
    assert deployment.repaired == [f"ses_{n}" for n in numbers]
    assert (
        max(len(request.get("sessions", ())) for request in deployment.requests) == AT_ONCE <= MOST_REPAIRED
    )
    assert deployment.paused == []


def test_what_there_was_no_time_for_is_asked_for_again() -> None:
    deployment = Deployment(part(failed(1), failed(2)), outcomes={"ses_2": ["left", "left", "restarted"]})
    assert deployment.run(yes=True) == 0
    assert deployment.repaired == ["ses_1", "ses_2", "ses_2", "ses_2"]
    assert deployment.paused == [1.0]


def test_a_throttled_listing_is_asked_for_again_after_a_pause_and_given_up_in_the_end() -> None:
    deployment = Deployment(
        part(cursor="here"), part(cursor="here"), part(cursor="here"), part(failed(1), cursor="there"), part()
    )
    assert deployment.run(yes=True) == 0
    assert deployment.paused == [1.0, 2.0]

    stuck = Deployment(part(cursor="here"))
    with pytest.raises(CliError, match="run the same command later"):
        stuck.run(yes=True)
    assert len(stuck.paused) == MOST_STANDSTILLS


def test_whatever_becomes_of_a_session_is_told_and_stops_no_other(capsys: Screen) -> None:
    outcomes = ["nothing", "gone", "refused", "unreadable", "unanswered", "restarted", "started", "woken"]
    deployment = Deployment(
        part(*(failed(n) for n in range(8)), unreadable=2, unanswered=4),
        outcomes={f"ses_{n}": [outcome] for n, outcome in enumerate(outcomes)},
    )
    assert deployment.run(yes=True) == 1
    assert capsys.readouterr().out.splitlines()[-6:] == [
        "repaired 3 of 8 sessions",
        "1 had been repaired already, or went on meanwhile",
        "1 had been deleted",
        "1 failed again meanwhile, with what a repair does not change",
        "3 cannot be read: the log of the recovery function says which and why",
        "AWS throttled, refused or did not answer for 5: run the same command again",
    ]


def test_every_outcome_has_its_words() -> None:
    assert {*REPAIRED, *REST, *FAULTS, "left"} == set(get_args(RepairOutcome))
