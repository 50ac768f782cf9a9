"""What a turn costs in the state machine, read from the execution's history."""

import json
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

Event = dict[str, Any]


class TurnHistory(NamedTuple):
    """From one state that calls the model to the next. `first`: the number of its turn. `payload`: the largest
    sum of one state's input and output; `payloads`: of all states together; bytes.

    `tasks` is what tasks were sent and answered before `Output` chose from it, the Lambda integration's
    metadata included. `made`: turns of the session, several where the function went on by itself.
    """

    transitions: int
    events: int
    lambda_invokes: int
    payload: int
    payloads: int
    tasks: int
    made: int = 1
    first: int = 1


def events(states: Any, execution_arn: str) -> list[Event]:
    found: list[Event] = []
    more: dict[str, str] = {}
    while True:
        page = states.get_execution_history(executionArn=execution_arn, maxResults=1_000, **more)
        found += page["events"]
        if "nextToken" not in page:
            return found
        more = {"nextToken": page["nextToken"]}


def turns(found: Sequence[Event]) -> list[TurnHistory]:
    """One per Plan or Think state but the last, from its entry to the next one's."""
    starts = [index for index, event in enumerate(found) if _entered(event) in ("Plan", "Think")]
    numbers = [_turn_at(found[start]) for start in starts]
    return [
        _turn(found[start:end])._replace(first=first, made=following - first)
        for (start, end), (first, following) in zip(pairwise(starts), pairwise(numbers), strict=True)
    ]


def whole(found: Sequence[Event]) -> TurnHistory:
    """What a session took of the engine, its start and its end included."""
    return _turn(found)


def _turn_at(event: Event) -> int:
    """Of the position that the state was entered with."""
    return int(json.loads(event["stateEnteredEventDetails"]["input"])["at"]["turn"])


def _turn(found: Sequence[Event]) -> TurnHistory:
    payloads = list(_payloads(found))
    sent = [event["taskScheduledEventDetails"] for event in found if event["type"] == "TaskScheduled"]
    answered = [event["taskSucceededEventDetails"] for event in found if event["type"] == "TaskSucceeded"]
    return TurnHistory(
        transitions=sum(1 for event in found if _entered(event)),
        events=len(found),
        lambda_invokes=sum(1 for task in sent if task["resourceType"] == "lambda"),
        payload=max(payloads),
        payloads=sum(payloads),
        tasks=sum(len(task["parameters"]) for task in sent) + sum(len(task["output"]) for task in answered),
    )


def _payloads(found: Sequence[Event]) -> Iterator[int]:
    """Input and output of every state; those that run beside each other are paired by name and order."""
    inputs: dict[str, list[int]] = {}
    for event in found:
        if name := _entered(event):
            details = event["stateEnteredEventDetails"]
            inputs.setdefault(name, []).append(len(details.get("input", "").encode()))
        elif event["type"].endswith("StateExited"):
            details = event["stateExitedEventDetails"]
            given = inputs.get(details["name"]) or [0]
            yield given.pop(0) + len(details.get("output", "").encode())


def _entered(event: Event) -> str:
    if not event["type"].endswith("StateEntered"):
        return ""
    return str(event["stateEnteredEventDetails"]["name"])
