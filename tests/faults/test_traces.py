"""What exports spans dies, or what it asks fails: the endpoint still gets the whole tree, each span once."""

from collections import Counter

import pytest

from tests.faults.point import Fault, Kind
from tests.faults.scenario import Play
from tests.faults.stand import Stand

pytestmark = pytest.mark.e2e

HANDS_OVER = "usage sqs:SendMessage queue 2"
READS = "traces dynamodb:BatchGetItem  2"
SENDS = "traces otlp:POST spans 2"
SAMPLE: tuple[tuple[Kind, str], ...] = (("after", HANDS_OVER), ("before", READS), ("after", SENDS))
REST: tuple[tuple[Kind, str], ...] = (
    ("before", HANDS_OVER),
    ("lose", HANDS_OVER),
    ("throttle", HANDS_OVER),
    ("after", READS),
    ("fail", READS),
    ("before", SENDS),
    ("lose", SENDS),
    ("cut", SENDS),
    ("fail", SENDS),
)


def arrives_whole(stand: Stand, kind: Kind, name: str) -> None:
    fault = Fault(name, kind)
    play = Play(stand, fault, exporting=True)
    play.run()  # checks the tree at its end
    assert play.track.fired == Counter({fault: 1}), "the call did not come up"


@pytest.mark.parametrize(("kind", "name"), SAMPLE)
def test_spans_arrive_whole_when_an_exporter_dies(stand: Stand, kind: Kind, name: str) -> None:
    arrives_whole(stand, kind, name)


@pytest.mark.thorough
@pytest.mark.parametrize(("kind", "name"), REST)
def test_spans_arrive_whole_whatever_an_exporter_meets(stand: Stand, kind: Kind, name: str) -> None:
    arrives_whole(stand, kind, name)
