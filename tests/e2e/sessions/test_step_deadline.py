"""A model that keeps the step waiting: given up while there is still time to commit, and asked again
(docs/design/providers.md 13)."""

from collections.abc import Iterator

import pytest

from tests.bench.stand.script import Call, Reply
from tests.e2e.support.behind import Behind
from tests.e2e.support.conversing import ConversingProvider, anthropic_at, planned
from tests.e2e.support.person import Person

FUNCTION = "acta-local-step"
LAMBDA_SECONDS = 12
"""Four for the model, after what the step keeps to commit; the setting would allow it two minutes."""
REPLIES = planned(Reply("", (Call("create_file", {"path": "made.txt", "content": "made"}),)))


@pytest.fixture
def hurried(behind: Behind) -> Iterator[None]:
    """The step's Lambda has little time, and the model stalls once in the middle of the run."""
    model, functions = ConversingProvider(), behind.client("lambda")
    model.play(REPLIES)
    model.stalls = {1}
    before = functions.get_function_configuration(FunctionName=FUNCTION)["Timeout"]
    with behind.configured("step", **anthropic_at(model.url)):
        functions.update_function_configuration(FunctionName=FUNCTION, Timeout=LAMBDA_SECONDS)
        yield
        functions.update_function_configuration(FunctionName=FUNCTION, Timeout=before)
    model.end.set()
    model.stop()


@pytest.mark.thorough
def test_a_model_that_stalls_is_given_up_by_the_step_itself_and_a_later_attempt_commits(
    ann: Person, behind: Behind, hurried: None
) -> None:
    seen = ann.finished(ann.start("A goal"))

    assert (seen.session["state"], seen.session["result"]["goal_met"]) == ("completed", True)
    assert ann.file("made.txt") == "made"
    (execution,) = behind.executions(seen.session["session_id"])
    errors = {
        event["taskFailedEventDetails"]["error"]
        for event in behind.history(execution["executionArn"])
        if event["type"] == "TaskFailed"
    }
    assert errors == {"ProviderTimeout"}, "never the Lambda's own end"
    assert [event["seq"] for event in seen.events] == list(range(1, seen.session["last_seq"] + 1))
