"""How long an outage's pauses are, when a person is asked, and which error is whose (docs/design/recovery.md 7)."""

from datetime import UTC, datetime, timedelta

import pytest

from acta.engine import errors
from acta.engine.recovery.outage import (
    DELAY_REASONS,
    MOST_CRASHES,
    Cause,
    Delay,
    Outage,
    OutageLimits,
    cause_of,
    cause_of_error,
    explained,
    failed_again,
    pause_seconds,
)

NOW = datetime(2026, 1, 1, tzinfo=UTC)
BUSY = Cause("waiting_for_provider", "PROVIDER_OVERLOADED")
CRASH = Cause("waiting_for_aws", "STEP_FAILED", is_crash=True)
LIMITS = OutageLimits()


def after(
    times: int, cause: Cause = BUSY, retry_after: float | None = None, limits: OutageLimits = LIMITS
) -> list[tuple[Outage, Delay]]:
    """One outage after each of so many failures, with its wait; each wait is waited for."""
    seen: list[tuple[Outage, Delay]] = []
    now = NOW
    for _ in range(times):
        outage = failed_again(seen[-1][0] if seen else None, cause, now, retry_after=retry_after)
        seen.append((outage, outage.pause("ses_1", now, limits, retry_after)))
        now = seen[-1][1].until or now
    return seen


def pauses(seen: list[tuple[Outage, Delay]]) -> list[float]:
    return [((delay.until or NOW) - delay.since).total_seconds() for _, delay in seen]


def test_pauses_double_up_to_the_longest_and_at_most_half_of_each_is_left_out() -> None:
    whole = [64, 128, 256, 512, 900, 900, 900]
    for one, most in zip(pauses(after(7)), whole, strict=True):
        assert most / 2 - 1 <= one <= most


def test_sessions_do_not_come_back_together_and_one_session_s_pause_is_the_same_each_time() -> None:
    seconds = {pause_seconds(f"ses_{number}", 12, 900) for number in range(100)}
    assert len(seconds) > 50
    assert pause_seconds("ses_1", 12, 900) == pause_seconds("ses_1", 12, 900)


@pytest.mark.parametrize("retry_after", [0.0, 0.3, 1.0, 5.0, 60.0, 700.0])
def test_a_retry_after_is_a_floor_and_never_shortens_what_grows(retry_after: float) -> None:
    for waits in range(1, 14):
        seconds = pause_seconds("ses_1", waits, 900, retry_after)
        assert seconds >= pause_seconds("ses_1", waits, 900)
        assert seconds >= retry_after


def test_a_short_retry_after_waits_shortly_at_first_and_longer_and_longer_where_it_does_not_help() -> None:
    seen = pauses(after(14, retry_after=0.3))
    assert seen[0] == 1
    assert seen[-1] >= 450
    assert sum(seen) > 1_800, "twenty seconds of waiting are no outage"


def test_a_retry_after_of_days_is_not_waited_for_at_once() -> None:
    assert pause_seconds("ses_1", 1, 900, 5 * 86_400) <= 990


def test_an_outage_keeps_when_it_began_and_tells_its_last_cause() -> None:
    first = failed_again(None, BUSY, NOW)
    later = failed_again(first, CRASH, NOW + timedelta(hours=1))
    assert (later.since, later.reason, later.code) == (NOW, "waiting_for_aws", "STEP_FAILED")
    assert later.waits == first.waits + 1


def test_time_decides_when_a_person_is_asked_and_no_count_of_waits() -> None:
    outage = after(5_000, limits=OutageLimits(patience=0))[-1][0]
    assert not outage.needs_person(NOW + timedelta(days=400), OutageLimits(patience=0))
    first = failed_again(None, BUSY, NOW)
    assert not first.needs_person(NOW + timedelta(hours=23), LIMITS)
    assert first.needs_person(NOW + timedelta(hours=24), LIMITS)


def test_patience_begins_anew_with_a_decision_and_so_do_crashes() -> None:
    outage = after(MOST_CRASHES + 1, CRASH)[-1][0]
    assert outage.needs_person(NOW, LIMITS)
    assert not after(MOST_CRASHES, CRASH)[-1][0].needs_person(NOW, LIMITS)
    later = NOW + timedelta(hours=30)
    again = outage.decided(later)
    assert not again.needs_person(later + timedelta(hours=23), LIMITS)
    assert (again.since, again.waits, again.crashes) == (NOW, outage.waits, 0)


def test_six_crashes_take_about_three_quarters_of_an_hour() -> None:
    assert 1_300 < sum(pauses(after(MOST_CRASHES, CRASH))) < 2_760


@pytest.mark.parametrize(
    ("error", "reason", "code"),
    [
        ("ProviderOverloaded", "waiting_for_provider", "PROVIDER_OVERLOADED"),
        ("ProviderUnavailable", "waiting_for_provider", "PROVIDER_UNAVAILABLE"),
        ("ProviderTimeout", "waiting_for_provider", "PROVIDER_TIMEOUT"),
        ("StreamBroken", "waiting_for_provider", "PROVIDER_STREAM_BROKEN"),
        ("StoreThrottled", "waiting_for_aws", "STORE_UNAVAILABLE"),
        ("StoreUnavailable", "waiting_for_aws", "STORE_UNAVAILABLE"),
        ("CommitContention", "waiting_for_aws", "STORE_UNAVAILABLE"),
        ("AwsDenied", "waiting_for_aws", "AWS_DENIED"),
        ("SessionPolicyTooLarge", "waiting_for_aws", "SESSION_POLICY_TOO_LARGE"),
        ("Lambda.TooManyRequestsException", "waiting_for_aws", "LAMBDA_UNAVAILABLE"),
        ("Lambda.SomethingNew", "waiting_for_aws", "LAMBDA_UNAVAILABLE"),
        ("SchemaUnknown", "waiting_for_aws", "RELEASE_TOO_OLD"),
        ("Refused", "waiting_for_aws", "RELEASE_TOO_OLD"),
        ("States.Timeout", "waiting_for_aws", "STEP_FAILED"),
        ("Sandbox.Timedout", "waiting_for_aws", "STEP_FAILED"),
        ("Runtime.ExitError", "waiting_for_aws", "STEP_FAILED"),
        ("Lambda.Unknown", "waiting_for_aws", "STEP_FAILED"),
        ("Lambda.ClientExecutionTimeoutException", "waiting_for_aws", "STEP_FAILED"),
        ("KeyError", "waiting_for_aws", "STEP_FAILED"),
        ("DecisionUnknown", "waiting_for_aws", "STEP_FAILED"),
    ],
)
def test_an_error_s_name_says_what_is_waited_for(error: str, reason: str, code: str) -> None:
    cause = cause_of(error)
    assert cause is not None
    assert (cause.reason, cause.code, cause.is_crash) == (reason, code, code == "STEP_FAILED")


def test_only_damaged_data_is_not_waited_for() -> None:
    engine = [*errors.TransientError.__subclasses__(), *errors.FinalError.__subclasses__()]
    assert [error.__name__ for error in engine if cause_of(error.__name__) is None] == ["PoisonedSession"]


@pytest.mark.parametrize("error", [errors.ProviderKeyRefused("401"), errors.ProviderQuotaExceeded("402")])
def test_a_key_is_waited_for_under_the_code_a_run_fails_with_before_its_first_reply(
    error: errors.SessionError,
) -> None:
    assert cause_of_error(error) == Cause("waiting_for_key", error.code)


def test_every_cause_has_a_sentence_of_its_own_and_an_unknown_one_has_one_too() -> None:
    names = [error.__name__ for error in errors.TransientError.__subclasses__()]
    codes = {cause.code for name in [*names, "Lambda.X", "Refused", "KeyError"] if (cause := cause_of(name))}
    texts = [explained(code) for code in (*codes, "EXECUTION_LOST", "PROVIDER_KEY_REFUSED", "OF_TOMORROW")]
    assert len(set(texts)) == len(texts)
    assert set(DELAY_REASONS) == {
        "waiting_for_provider", "waiting_for_aws", "waiting_for_key", "waiting_for_tokens", "queued",
        "waiting_for_agents", "waiting_for_callback", "waiting_until",
    }  # fmt: skip
