import pytest
from hypothesis import given
from hypothesis import strategies as st

from acta.client.api import Client
from acta.client.deployment import Deployment
from acta.client.errors import UnexpectedAnswerError
from acta.client.following import input_hash
from acta.engine.log import conversation
from acta.engine.untrusted.exact_json import canonical_json
from tests.acta.fake_deployment import SESSION_ID, FakeDeployment, success

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def test_a_review_s_shortened_inputs_are_fetched_whole_and_have_to_be_the_ones_decided_on(
    deployment: FakeDeployment,
) -> None:
    whole = {"path": "a", "content": "x" * 3_000}
    path = f"/v1/sessions/{SESSION_ID}/interventions/int_1/input"
    large = {"call_id": "c 2", "name": "create_file", "input": {}, "shortened": True}
    text = canonical_json(whole)
    large["input_hash"] = input_hash(text)
    small = {"call_id": "c1", "name": "list_files", "input": {}, "shortened": False}
    review = {"intervention_id": "int_1", "context": {"calls": [small, large]}}
    client = Client(Deployment(deployment.url, "a.b.c"))
    deployment.on("GET", path, success({"input_text": text}), success({"input_text": "{}"}))
    calls = client.with_whole_inputs(SESSION_ID, review)["context"]["calls"]
    assert calls == [small, {**large, "input": whole, "input_text": text}]
    assert [request.path for request in deployment.requests] == [f"{path}?call_id=c+2"]
    with pytest.raises(UnexpectedAnswerError):
        client.with_whole_inputs(SESSION_ID, review)


@given(st.dictionaries(st.text(), JSON, max_size=4))
def test_the_client_s_hash_of_an_input_is_the_deployment_s(arguments: dict[str, object]) -> None:
    text = canonical_json(arguments)
    assert input_hash(text) == conversation.input_hash(arguments)
