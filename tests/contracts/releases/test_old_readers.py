"""The release before reads what this one writes for it, and leaves alone what it does not understand."""

import base64
import gzip
import json
from pathlib import Path
from typing import NamedTuple, TypeVar

import pytest
from hypothesis import HealthCheck, given, settings
from moto import mock_aws
from pydantic import BaseModel

from shared.adapters.dynamodb.definition_items import SEED_WRITTEN_AS, from_prompt
from shared.adapters.dynamodb.memories import from_memory
from shared.adapters.dynamodb.running_text import from_partial
from shared.adapters.storage.documents import dump, to_commit
from shared.domain.definitions.agent import AgentDefinition, Fallback, Limits
from shared.domain.definitions.applied import Applied
from shared.domain.definitions.memory import Memory
from shared.domain.definitions.prompt import AGENT_PLANNING_SYSTEM, Prompt, seed
from shared.domain.definitions.tool import HttpConfig, ToolDefinition
from shared.domain.interventions.intervention import Intervention
from shared.domain.interventions.options_and_defaults import Policy
from shared.domain.rules.caps import Caps
from shared.domain.rules.compaction import Compacted
from shared.domain.schema.convert import to_json
from shared.domain.schema.versions import CURRENT, PREVIOUS
from shared.domain.session.commit import Commit
from shared.domain.session.running_text import PARTIAL_VERSION, Partial
from tests.contracts.store.backends import moto_aws
from tests.contracts.store.documents import NOW, full_commit, largest_commit
from tests.contracts.store.strategies import documents
from tests.fixtures.stored import Shape, StoredObject
from tests.fixtures.write import SHAPES
from tests.releases import previous

pytestmark = pytest.mark.contract

EXAMPLES = settings(max_examples=30, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
READER = Path(previous.__file__).with_name("old_reader.py")


Example = TypeVar("Example", bound=BaseModel)


class Written(NamedTuple):
    kind: str
    version: int
    body: bytes


AGENT = AgentDefinition(
    agent_id="keeper", name="Keeper", goal="Keeps the reports.", tools=("read_file",), provider="anthropic",
    model="m", limits=Limits(max_steps=20), high_stakes=("notify",), version=3, created_at=NOW, updated_at=NOW,
    interventions={"error_recovery": Policy(timeout_seconds=60, default_action="retry", approver_must_differ=True)},
    fallbacks=(Fallback(model="other"),), start_roles=("finance",),
    caps=Caps(max_steps=30, token_budget=9_000), applied=Applied(set="desk", digest="a:b"),
)  # fmt: skip
TOOL = ToolDefinition(
    name="notify", description="Tells.", input_schema={"type": "object"}, kind="http", effect="once", risk="network",
    config=HttpConfig(url="https://desk.example/hook", method="POST", secret_headers={"A": "desk"}),
    version=1, created_at=NOW, updated_at=NOW,
    approver_role="finance", approver_must_differ=True, applied=Applied(set="desk", digest="a:b"),
)  # fmt: skip
PROMPT = Prompt(
    name=AGENT_PLANNING_SYSTEM, version=2, content="Plan.", created_by="ann", created_at=NOW,
    applied=Applied(set="desk", digest="a:b"),
)  # fmt: skip
MEMORY = Memory(memory_id="m", agent_id="keeper", kind="fact", text="A year.", created_at=NOW, updated_at=NOW)


def examples_of(model: type[Example]) -> list[Example]:
    found: list[Example] = []

    @EXAMPLES
    @given(documents(model))
    def collect(document: Example) -> None:
        found.append(document)

    collect()
    return found


def with_known_events(commit: Commit) -> Commit:
    """Only such are written (`test_fields.py`), though any is read."""
    events = tuple(event.model_copy(update={"type": "thought"}) for event in commit.events)
    return commit.model_copy(update={"events": events})


def in_version(version: int) -> list[Written]:
    """Documents of every kind that is written in a version of the deployment's choice."""
    commits = [
        *map(with_known_events, examples_of(Commit)),
        full_commit("t", "ses_1", 1),
        largest_commit("t", "ses_1"),
    ]
    return [
        *(Written("commit", version, dump(each, version)) for each in commits),
        *(Written("intervention", version, dump(each, version)) for each in examples_of(Intervention)),
        *(Written("conversation", version, to_json(each, version)) for each in examples_of(Compacted)),
        Written("agent", version, dump(AGENT, version)),
        Written("tool", version, dump(TOOL, version)),
        Written("prompt", version, from_prompt(PROMPT, version)),
        Written("memory", version, from_memory(MEMORY, version)),
    ]


def read_by_the_release_before(written: list[Written]) -> list[str | None]:
    """Of each document None, or the error's class."""
    given = json.dumps([(w.kind, w.version, base64.b64encode(w.body).decode()) for w in written])
    try:
        answers: list[str | None] = json.loads(previous.run(READER.read_text(), given))
    except previous.NoHistory as missing:
        pytest.skip(str(missing))
    return answers


def test_all_that_is_written_in_the_version_before_is_read_by_the_release_before() -> None:
    unchanging = [
        Written("prompt", SEED_WRITTEN_AS, from_prompt(seed(AGENT_PLANNING_SYSTEM), SEED_WRITTEN_AS)),
        Written("partial", PARTIAL_VERSION, from_partial(Partial(key="k", text="So", at=NOW))),
    ]
    written = [*in_version(PREVIOUS), *unchanging]
    answers = read_by_the_release_before(written)
    assert {(one.kind, answer) for one, answer in zip(written, answers, strict=True) if answer} == set()


def test_what_is_written_in_today_s_version_is_refused_by_it_as_unknown_and_never_as_damaged() -> None:
    assert set(read_by_the_release_before(in_version(CURRENT))) == {"SchemaUnknown"}


KINDS = {"C#": "commit", "I#": "intervention", "A#": "agent", "F#": "tool", "M#": "memory", "P#": "prompt"}
"""How a sort key begins -> the kind of the document in the item."""


@pytest.mark.parametrize("shape", SHAPES)
def test_what_a_deployment_stores_in_the_version_before_is_read_by_the_release_before(shape: str) -> None:
    """All of it, as the use cases and the stores write it."""
    with mock_aws():
        stored = SHAPES[shape](moto_aws(), write_version=PREVIOUS)
    written = [
        Written(kind, int(item["v"]["N"]), item["z"]["B"])
        for item in stored.items
        if (kind := KINDS.get(item["sk"]["S"][:2])) and "z" in item
    ]
    written += [Written("conversation", PREVIOUS, text) for text in conversations(stored)]
    if shape == "waiting_for_approval":  # it is compacted
        assert "conversation" in {one.kind for one in written}
    assert {"commit", "agent", "tool"} <= {one.kind for one in written}
    answers = read_by_the_release_before(written)
    assert {(one.kind, answer) for one, answer in zip(written, answers, strict=True) if answer} == set()


def conversations(stored: Shape) -> list[bytes]:
    """The compacted ones: in a commit where they are small, else in objects."""
    items = [item for item in stored.items if item["sk"]["S"].startswith("C#")]
    commits = [to_commit(int(item["v"]["N"]), item["z"]["B"]) for item in items]
    found = [one.compacted for one in commits if one.compacted is not None]
    objects = {one.key.rpartition("/")[2]: whole(one) for one in stored.objects}
    return [one.text.encode() if one.text is not None else objects[one.blob or ""] for one in found]


def whole(one: StoredObject) -> bytes:
    return gzip.decompress(one.body) if one.encoding == "gzip" else one.body
