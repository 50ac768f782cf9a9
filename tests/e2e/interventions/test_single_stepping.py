"""`review_every: 1`: a person looks at every turn of a session before it goes on (docs/design/people.md 11)."""

from tests.conftest import Deployed
from tests.e2e.support.command import acta
from tests.e2e.support.person import OVER, Person
from tests.e2e.support.samples import DELETION, GOAL, OLD, give_files


def test_a_whole_session_is_stepped_through_over_the_api_one_turn_at_a_time(ann: Person) -> None:
    give_files(ann)
    session_id = ann.start(GOAL, review_every=1)
    cursor, turns, called = "0", [], []
    while True:
        seen = ann.watch(session_id, lambda s: bool(s["interventions"]) or s["state"] in OVER, cursor)
        cursor = seen.cursor
        if seen.session["state"] in OVER:
            break
        (review,) = seen.session["interventions"]
        assert (review["type"], review["timeout_at"]) == ("checkpoint_review", None)
        assert (review["options"], review["context"]["asked_by"]) == (["continue", "cancel"], "acta")
        turns.append(seen.session["run"]["iteration"])
        shown = review["context"]["calls"]
        asked = [(e["data"]["call_id"], e["data"]["input_hash"]) for e in seen.of("tool.requested")]
        assert asked == [(call["call_id"], call["input_hash"]) for call in shown]
        for call in shown:
            path = f"/v1/sessions/{session_id}/interventions/{review['intervention_id']}/input"
            whole = ann.data(path, call_id=call["call_id"])
            assert (whole["name"], whole["input_hash"]) == (call["name"], call["input_hash"])
            assert call["shortened"] or whole["input"] == call["input"]
        called += [call["name"] for call in shown]
        ann.resolve(session_id, review["intervention_id"], "continue")
    assert turns == list(range(1, len(turns) + 1)), "no turn went by unseen"
    decided = ann.items(f"/v1/sessions/{session_id}/interventions", state="resolved")
    assert [one["resolved_by"] for one in decided] == ["ann"] * len(turns)
    assert seen.session["result"]["goal_met"] is True
    assert len(turns) >= 3
    assert "create_file" in called
    assert "summary.md" in ann.files()


def test_a_review_and_an_approval_of_the_same_turn_are_both_decided_before_anything_runs(ann: Person) -> None:
    ann.put_file(OLD, "old")
    session_id = ann.start(DELETION, review_every=1)
    seen = ann.watch(session_id, lambda s: len(s["interventions"]) == 2)
    approval, review = seen.session["interventions"]
    assert (approval["type"], review["type"]) == ("approval_required", "checkpoint_review")
    ann.resolve(session_id, approval["intervention_id"], "approve")
    assert ann.snapshot(session_id)["state"] == "waiting_for_user"
    assert ann.file(OLD) == "old"
    ann.resolve(session_id, review["intervention_id"], "continue")
    ann.watch(session_id, lambda s: bool(s["interventions"]) or s["state"] in OVER)
    assert ann.files() == set()


def test_a_session_is_stepped_through_on_the_command_line(deployed: Deployed, ann: Person) -> None:
    ann.put_file("a.txt", "alpha")
    as_ann = {"ACTA_API_URL": deployed.url, "ACTA_TOKEN": ann.token}
    started = acta("run", "List my files", "--review-every", "1", "--no-wait", environ=as_ann)
    assert started.code == 5, started.err
    assert "The session pauses for a review." in started.out
    assert "Acta says:\n  | Go on?" in started.out
    session_id = started.out.splitlines()[0].split()[1]
    for _ in range(10):
        waiting = ann.watch(session_id, lambda s: bool(s["interventions"]) or s["state"] in OVER).session
        if waiting["state"] in OVER:
            break
        stepped = acta("resolve", session_id, "continue", environ=as_ann)
        assert stepped.code == 0, stepped.err
    assert waiting["state"] == "completed"
    resolved = ann.watch(session_id, lambda s: s["state"] in OVER).of("intervention.resolved")
    assert [event["data"]["resolved_by"] for event in resolved] == ["ann"] * len(resolved)
    assert resolved
