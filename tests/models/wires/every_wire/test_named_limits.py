"""What the headers of an answer say that the provider takes is told, on every wire that has such headers (ADR 106)."""

import pytest

from acta.engine.models.model import StreamOptions
from acta.engine.queue.places import ProviderLimits
from tests.models.wires.conftest import MODELS
from tests.models.wires.conversations import TIMEOUT, request
from tests.models.wires.fake_provider import FakeProvider
from tests.models.wires.stream_formats import answer

pytestmark = pytest.mark.contract

EVENTS = {"content-type": "text/event-stream"}
ANTHROPIC = {"anthropic-ratelimit-tokens-limit": "96000", "anthropic-ratelimit-requests-limit": "50"}
OPENAI = {"x-ratelimit-limit-tokens": "96000", "x-ratelimit-limit-requests": "50"}
WIRES = [
    ("anthropic", "end_turn", ANTHROPIC),
    ("openai", "stop", OPENAI),
    ("openai-responses", "completed", OPENAI),
]


@pytest.mark.parametrize(("wire", "word", "headers"), WIRES)
def test_what_an_answer_names_is_told_with_its_provider(
    wire: str, word: str, headers: dict[str, str], server: FakeProvider
) -> None:
    told: list[tuple[str, ProviderLimits]] = []
    options = StreamOptions(on_limits=lambda provider, limits: told.append((provider, limits)))
    for more in (headers, {}):
        server.queue(*answer(wire, "Done", word), headers={**EVENTS, **more})
        MODELS[wire](server.url).complete(request()._replace(stream_options=options), timeout=TIMEOUT)

    assert told == [(wire.partition("-")[0], ProviderLimits(96_000, 50))]
