"""The Responses API beyond what llmock scripts: items, statuses and errors, through the official SDK."""

from typing import Any

import pytest

from shared.adapters.llm.openai.responses import OpenAIResponsesModel
from shared.domain.errors import (
    ActaError,
    ProviderOverloaded,
    ProviderQuotaExceeded,
    ProviderRejected,
    ProviderUnavailable,
    StreamBroken,
)
from shared.ports.model import StreamOptions, TokenUsage
from tests.contracts.llm.conversations import (
    KEY,
    PATIENCE,
    READ_FILE,
    SECRET_TEXT,
    request,
    user,
)
from tests.contracts.llm.responding import CUT, SSE, ask, tell
from tests.contracts.llm.served import Served
from tests.contracts.llm.wires import called, reasoned, refused, response_events, said, sse

pytestmark = pytest.mark.contract


def test_nothing_is_kept_there(served: Served) -> None:
    tell(served, said("ok"))

    ask(served)

    (asked,) = served.asked
    assert asked.path == "/responses"
    assert (asked.body["store"], asked.body["stream"]) == (False, True)
    assert asked.body["include"] == ["reasoning.encrypted_content"]
    assert "previous_response_id" not in asked.body


def test_cached_and_written_tokens_are_told_apart(served: Served) -> None:
    tell(served, said("hi"))

    assert ask(served).usage == TokenUsage(90, 7, 64, 20)


def test_a_server_that_reports_no_usage_is_estimated_not_free(served: Served) -> None:
    tell(served, said("x" * 40), called(1, '{"path":"abcdefgh"}'), status="completed", usage=None)

    usage = ask(served).usage

    assert usage.output == (40 + 19) // 4
    assert usage.input > 10


def test_a_usage_without_counts_is_estimated_from_the_whole_request(served: Served) -> None:
    tell(served, said("x" * 40), status="completed", usage={})
    tell(served, said("x" * 40), status="completed", usage={})

    with_tools, without = ask(served).usage, ask(served, tools=()).usage

    assert (with_tools.output, without.output) == (10, 10)
    assert with_tools.input > without.input + len(READ_FILE.description) // 4


def test_a_refusal_is_an_item_of_its_own(served: Served) -> None:
    tell(served, refused("I can't help."))

    reply = ask(served)

    assert (reply.text, reply.stop) == ("I can't help.", "refusal")


def test_text_cut_at_the_limit_is_kept(served: Served) -> None:
    events = response_events([reasoned(1)], said("The beginning of"), **CUT)
    served.tell(*map(sse, events), headers=SSE)

    reply = ask(served)

    assert (reply.text, reply.stop) == ("The beginning of", "max_tokens")
    assert reply.usage.output == 7


@pytest.mark.parametrize("arguments", ['{"path": "a/lo', '{"path": "a"}', ""])
def test_a_call_that_was_never_completed_is_not_run_however_whole_it_looks(
    served: Served, arguments: str
) -> None:
    first = called(1, '{"path": "b"}')
    served.tell(*map(sse, response_events([first], called(2, arguments), **CUT)), headers=SSE)

    reply = ask(served)

    assert reply.stop == "max_tokens"
    assert [c.input for c in reply.calls] == [{"path": "b"}, None]
    assert "cut off" in (reply.calls[1].malformed or "")


def test_a_call_whose_item_says_it_is_incomplete_is_not_run(served: Served) -> None:
    tell(served, called(1, '{"path": "a"}', status="incomplete"), **CUT)

    assert ask(served).calls[0].input is None


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        ({"code": "server_error", "message": SECRET_TEXT}, StreamBroken),
        ({"code": "rate_limit_exceeded", "message": SECRET_TEXT}, StreamBroken),
        ({"code": "insufficient_quota", "message": SECRET_TEXT}, ProviderQuotaExceeded),
        ({"code": "invalid_prompt", "message": SECRET_TEXT}, ProviderRejected),
        ({"code": "never_heard_of", "message": SECRET_TEXT}, StreamBroken),
        (None, StreamBroken),
    ],
)
@pytest.mark.parametrize("how", ["failed", "error"])
def test_an_error_inside_an_answer_is_told_by_its_name(
    served: Served, how: str, error: dict[str, str] | None, expected: type[ActaError]
) -> None:
    if how == "failed":
        served.tell(*map(sse, response_events([said("Half")], status="failed", error=error)), headers=SSE)
    else:
        blank = {"message": "", "code": None}
        last: dict[str, Any] = {"type": "error", "sequence_number": 9, **(error or blank)}
        served.tell(*map(sse, [*response_events([said("Half")]), last]), headers=SSE)

    with pytest.raises(ActaError) as caught:
        ask(served)

    assert type(caught.value) is expected
    assert SECRET_TEXT not in str(caught.value)
    assert caught.value.__context__ is None


@pytest.mark.parametrize(
    ("code", "expected"),
    [("server_error", ProviderUnavailable), ("rate_limit_exceeded", ProviderOverloaded)],
)
@pytest.mark.parametrize("how", ["failed", "error"])
def test_a_response_that_fails_before_it_says_anything_has_not_begun(
    served: Served, how: str, code: str, expected: type[ActaError]
) -> None:
    error = {"code": code, "message": SECRET_TEXT}
    if how == "failed":
        served.tell(*map(sse, response_events([], status="failed", error=error)), headers=SSE)
    else:
        last = {"type": "error", "sequence_number": 9, **error}
        served.tell(*map(sse, [*response_events([]), last]), headers=SSE)

    with pytest.raises(expected):
        ask(served)


@pytest.mark.parametrize("code", ["bio_policy", "misalignment_policy_violation"])
def test_a_response_that_failed_for_a_policy_was_refused(served: Served, code: str) -> None:
    tell(served, said("So"), status="failed", error={"code": code, "message": "no"})

    assert ask(served).stop == "refusal"


@pytest.mark.parametrize("broken", [True, False])
@pytest.mark.parametrize("items", [(), (said("All."),), (called(1, '{"path": "a"}'),)])
def test_without_the_last_word_an_answer_is_broken_however_whole_it_looks(
    served: Served, items: tuple[dict[str, Any], ...], broken: bool
) -> None:
    served.tell(*map(sse, response_events(items)), broken=broken, headers=SSE)

    with pytest.raises(StreamBroken):
        ask(served)


def test_a_stream_that_is_not_json_is_broken(served: Served) -> None:
    served.tell(*map(sse, response_events([said("Half")])), b"data: {not json\n\n", headers=SSE)

    with pytest.raises(StreamBroken):
        ask(served)


def test_the_text_is_heard_as_it_comes_and_nothing_else_is(served: Served) -> None:
    tell(served, reasoned(1, summary="Hm."), said("Hello."), called(1, "{}"))
    heard: list[str] = []

    ask(served, user("go"), model="gpt-6-sol")
    tell(served, reasoned(1, summary="Hm."), said("Hello."), called(1, "{}"))
    asked = request(user("go"))._replace(stream_options=StreamOptions(on_text=heard.append))
    OpenAIResponsesModel(KEY, served.url).complete(asked, timeout=PATIENCE)

    assert heard == ["Hello."]
