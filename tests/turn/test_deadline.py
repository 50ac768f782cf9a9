"""The model's time: from the invocation's, with room to commit."""

from hypothesis import given, settings
from hypothesis import strategies as st

from acta.engine.aws.clients import ATTEMPTS, CONNECT_SECONDS, READ_SECONDS
from acta.engine.turn.engine import COMMIT_SECONDS, LEAST_SECONDS, seconds_for_work
from acta.engine.turn.model_call import ROOM
from acta.infra.environments import ENVIRONMENTS
from acta.infra.sizing import MARGIN


def test_the_setting_bounds_the_model_where_the_lambda_has_more_time() -> None:
    assert seconds_for_work(150_000, 120) == 120
    assert seconds_for_work(150_000, 2.5) == 2.5


@settings(derandomize=True)
@given(st.integers(min_value=0, max_value=900_000), st.floats(min_value=0.1, max_value=900))
def test_what_is_left_after_the_model_is_enough_to_commit(remaining_ms: int, deadline: float) -> None:
    seconds = seconds_for_work(remaining_ms, deadline)
    assert seconds >= LEAST_SECONDS
    assert seconds <= max(LEAST_SECONDS, deadline)
    if remaining_ms / 1_000 >= COMMIT_SECONDS + LEAST_SECONDS:
        assert remaining_ms / 1_000 - seconds >= COMMIT_SECONDS


def test_there_is_room_for_a_request_that_hangs_through_all_its_tries_at_the_last_moment() -> None:
    hanging = ATTEMPTS * (CONNECT_SECONDS + READ_SECONDS)
    assert ROOM.total_seconds() + hanging < COMMIT_SECONDS < MARGIN


def test_every_environment_gives_a_step_time_for_the_model_and_the_commit() -> None:
    for environment in ENVIRONMENTS.values():
        most = environment.sizes["step"].timeout * 1_000
        assert seconds_for_work(most, most) > 60
