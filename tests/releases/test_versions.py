"""Documents in the version before, in this release's and in the next one's: read, kept whole and written back."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from acta.engine.errors import PoisonedSession
from acta.engine.log.commit import Change, Commit, Position
from acta.engine.store.schema import CURRENT, NEXT, left_out, read_json, to_json
from acta.engine.store.table_layout import dump, from_commit, pack, to_commit, to_intervention, unpack
from tests.stores.documents import NOW, decision_at, full_commit, make_commit, make_intervention

pytestmark = pytest.mark.contract

EXAMPLES = settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


def in_json(commit: Commit) -> dict[str, Any]:
    parsed: dict[str, Any] = json.loads(unpack(from_commit(commit)))
    return parsed


def stored_as(version: int, commit: Commit) -> bytes:
    return pack(to_json(commit, version))


def names_in(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [*value, *(name for each in value.values() for name in names_in(each))]
    return [name for each in value for name in names_in(each)] if isinstance(value, list) else []


def test_what_is_left_out_is_left_out_wherever_the_model_stands() -> None:
    gone = frozenset(
        {("OpenCall", "tries"), ("PlanStep", "permitted"), ("ToolCall", "malformed"), ("PendingCall", "shortened"),
         ("Run", "restarts"), ("Commit", "step")}
    )  # fmt: skip
    written = full_commit("t", "ses_1", 1).model_dump(mode="json", exclude=left_out(Commit, gone))
    left = set(names_in(written))
    assert not left & {"tries", "permitted", "malformed", "shortened", "restarts", "step"}
    assert {"amended", "evidence", "input_content", "input_hash", "goal_id", "decision"} <= left
    assert left_out(Commit, frozenset()) == {}


def test_a_new_field_that_would_take_another_model_s_with_it_is_refused() -> None:
    with pytest.raises(ValueError, match="content"):
        left_out(Commit, frozenset({("ToolEntry", "content")}))


def test_fields_of_the_next_release_are_kept_and_written_back() -> None:
    newer = in_json(full_commit("t", "ses_1", 1)) | {"version": NEXT, "of_next": 1}
    head = newer["head"]
    head |= {"version": NEXT, "of_next": {"deep": [1]}}
    for part in (head["run"], head["plan"]["steps"][0], head["calls"][0], head["interventions"][0], head["usage"],
                 head["budget"], newer["events"][0], newer["entries"][0], newer["entries"][1]["calls"][0],
                 newer["decision"]["at"]):  # fmt: skip
        part["of_next"] = "kept"
    newer["events"][1]["type"] = "of.next"
    commit = to_commit(NEXT, pack(json.dumps(newer).encode()))
    assert commit.version == commit.head.version == CURRENT
    written = in_json(commit)
    assert names_in(written).count("of_next") == 12
    assert to_commit(CURRENT, from_commit(commit)) == commit

    change = Change(commit.head, commit.number + 1, NOW)
    change.set(goal="another")
    following = in_json(change.as_commit("key"))
    assert following["head"]["of_next"] == {"deep": [1]}
    assert following["head"]["run"]["of_next"] == "kept"


def test_a_head_of_the_next_version_in_a_commit_of_this_one_is_read() -> None:
    stored = in_json(make_commit("t", "ses_1", 1))
    stored["head"]["version"] = NEXT
    assert to_commit(CURRENT, pack(json.dumps(stored).encode())).head.version == CURRENT


def test_a_field_that_no_model_has_is_never_written_by_mistake() -> None:
    with pytest.raises(TypeError, match="stat"):
        make_commit("t", "ses_1", 1).head.model_copy(update={"stat": "idle"})


def test_a_definition_of_the_next_release_is_read_without_what_is_unknown() -> None:
    from acta.engine.agents.agent import built_in
    from acta.engine.agents.dynamodb import to_agent

    stored = json.loads(unpack(dump(built_in(), CURRENT)))
    stored |= {"of_next": 1, "limits": stored["limits"] | {"of_next": 1}}
    assert to_agent(NEXT, pack(json.dumps(stored).encode())) == built_in()
    with pytest.raises(PoisonedSession):
        to_agent(CURRENT, pack(json.dumps(stored).encode()))


def test_an_intervention_of_the_next_release_keeps_what_is_unknown() -> None:
    newer = json.loads(to_json(make_intervention("ses_1", "int_1"), CURRENT)) | {"of_next": 1}
    read = to_intervention(NEXT, pack(json.dumps(newer).encode()))
    assert json.loads(to_json(read, CURRENT))["of_next"] == 1


def test_a_position_with_what_the_next_release_added_is_understood() -> None:
    at = decision_at("t", "ses_1").at
    newer = json.dumps(at.model_dump() | {"of_next": 1})
    assert read_json("position", Position, CURRENT, newer).key("plan") == at.key("plan")
