"""Every JSONata expression of the state machine is evaluated with what reaches its state, by the reference
implementation and by the one that the local AWS has.

AWS runs the language of jsonata 2.0.6, and fails a state whose expression has no value (Step Functions developer guide,
"Transforming data with JSONata in Step Functions", November 2026).
"""

import json
import re
import subprocess
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

import pytest

from acta.engine.log.commit import Decision, Position
from acta.infra.engine.workflow import definition, states
from acta.infra.environments import PROD
from acta.infra.packaging.bundle import ROOT
from acta.infra.toolchain import EMULATOR_PYTHON

NOW = 1_800_000_000
AT = Position(tenant="acme", session_id="ses_1", run_id="run_1", generation=1, turn=2, first=7)


def decided(next: Any, **more: Any) -> dict[str, object]:
    return Decision(next=next, at=AT, **more).to_engine()


HERE = {"at": decided("think")["at"]}
SHORT, LONG = decided("wait", wait_seconds=5, then="think"), decided("wait", wait_seconds=86_400, then="plan")
ASKED = [
    decided("ask", **wakes)
    for wakes in (
        {},
        {"wake_at": ()},
        {"wake_at": (NOW + 90, NOW + 9_000)},
        {"wake_at": (NOW + 9_000,)},
        {"wake_at": (NOW - 60,)},
        {"wake_at": (NOW - 6_000,)},
        {"wake_at": (NOW - 60, NOW + 90)},
    )
]
ACTS = decided("act", calls=("call_1", "call_2"))
TURNS = [decided("plan"), decided("think")]
PARKED = {**ASKED[2], "next": "park"}
ENDS = [decided(next) for next in ("roll_over", "done", "failed")]
STAYS = [{**LONG, "stays": True}, {**ASKED[0], "stays": True}]
UNKNOWN = {**HERE, "next": "dance"}
LOST = {**HERE, "error": "States.Timeout"}
INPUTS: Mapping[str, list[dict[str, Any]]] = {
    "Route": [*TURNS, ACTS, *ASKED, SHORT, LONG, PARKED, *ENDS, *STAYS, UNKNOWN],
    "Plan": TURNS,
    "Think": [*TURNS, HERE],
    "Act": [ACTS],
    "Tool": [{**HERE, "call_id": "call_1"}],
    "LostTool": [{**LOST, "call_id": "call_1"}],
    "Ask": [*ASKED, STAYS[1]],
    "Wait": [SHORT, STAYS[0]],
    "Park": [LONG, PARKED],
    "RollOver": [decided("roll_over")],
    "HandleError": [LOST, UNKNOWN, {**LOST, "pauses": 3}],
    "Pause": [{**LOST, "pauses": pauses} for pauses in (1, 5, 2_000)],
}
"""What reaches each state that has expressions."""
CONTEXT = {
    "State": {"RetryCount": 1, "EnteredTime": "2027-01-15T08:00:00Z"},
    "Task": {"Token": "token"},
    "Map": {"Item": {"Index": 0, "Value": "call_1"}},
}
ERROR = {"Error": "States.Timeout", "Cause": "it took too long"}
TYPES: Mapping[str, type] = {"Condition": bool, "Seconds": int, "TimeoutSeconds": int, "Items": list}
"""Field -> the type that Step Functions wants there; seconds are whole."""
LONGEST = 99_999_999
"""Seconds of a state's time-out or wait. Source: Amazon States Language, "Task State" and "Wait State"."""
EXPRESSION = re.compile(r"\{%(.*)%\}", re.DOTALL)


class Case(NamedTuple):
    """`field`: where in its state the expression stands, as `Catch/0/Output/at`. `given`: `$states`."""

    state: str
    field: str
    expression: str
    given: Mapping[str, Any]


def placed(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Path and expression of each expression in a state, without those of the states in it."""
    match value:
        case str() if found := EXPRESSION.fullmatch(value):
            yield path, found[1].strip()
        case dict():
            for name, each in value.items():
                if name != "ItemProcessor":
                    yield from placed(each, f"{path}/{name}".lstrip("/"))
        case list():
            for number, each in enumerate(value):
                yield from placed(each, f"{path}/{number}")


@cache
def cases() -> tuple[Case, ...]:
    """A fixed clock and a fixed chance stand in for the functions that ask for them."""
    made = []
    for name, state in states(definition(PROD)):
        for field, expression in placed(state):
            fixed = expression.replace("$millis()", f"{NOW}000").replace("$random()", "0.25")
            for given in INPUTS[name]:
                seen: dict[str, Any] = {"input": given, "context": CONTEXT}
                if field.startswith("Catch"):
                    seen["errorOutput"] = ERROR
                elif field.startswith("Output"):
                    decision = decided("think")
                    seen["result"] = decision if name == "Ask" else {"Payload": decision, "StatusCode": 200}
                made.append(Case(name, field, fixed, seen))
    return tuple(made)


JAVASCRIPT = """
const jsonata = require('jsonata');
(async () => {
  const found = [];
  for (const [expression, states] of JSON.parse(require('fs').readFileSync(0))) {
    try {
      const value = await jsonata(expression).evaluate(undefined, { states });
      found.push(value === undefined ? 'no value' : [value]);
    } catch (error) { found.push(`${error.code}: ${error.message}`); }
  }
  console.log(JSON.stringify(found));
})();
"""
PYTHON = """
import json, sys
from ministack.services import stepfunctions
found = []
for expression, states in json.load(sys.stdin):
    seen = (states["input"], states["context"], states.get("result"), states.get("errorOutput"))
    try: found.append([stepfunctions._evaluate_jsonata(expression, *seen)])
    except Exception as error: found.append(str(error))
print(json.dumps(found))
"""
ENGINES: Mapping[str, list[str]] = {
    "reference": ["node", "-e", JAVASCRIPT],
    "local AWS": [str(EMULATOR_PYTHON), "-c", PYTHON],
}


@pytest.fixture(scope="module")
def evaluated() -> Callable[[str], list[Any]]:
    """Engine -> what it makes of each case: the value in a list, or why there is none."""

    @cache
    def by(engine: str) -> list[Any]:
        given = json.dumps([(each.expression, each.given) for each in cases()])
        done = subprocess.run(
            ENGINES[engine], input=given, cwd=ROOT, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        found: list[Any] = json.loads(done.stdout)
        return found

    return by


def test_every_state_with_expressions_has_inputs() -> None:
    assert {name for name, state in states(definition(PROD)) if list(placed(state))} == INPUTS.keys()


@pytest.mark.parametrize("engine", ENGINES)
def test_every_expression_has_a_value_of_the_type_that_its_field_wants(
    engine: str, evaluated: Callable[[str], list[Any]]
) -> None:
    for case, found in zip(cases(), evaluated(engine), strict=True):
        assert isinstance(found, list), f"{case.state}/{case.field}: {found} for {case.given['input']}"
        field = case.field.rpartition("/")[2]
        wanted = TYPES.get(field)
        assert wanted in (None, type(found[0])), f"{case.state}/{case.field}: {found[0]}"
        if field.endswith("Seconds"):
            assert 1 <= found[0] <= LONGEST


def test_the_local_aws_evaluates_them_as_the_reference_does(evaluated: Callable[[str], list[Any]]) -> None:
    both = zip(cases(), evaluated("local AWS"), evaluated("reference"), strict=True)
    assert [case for case, local, reference in both if local != reference] == []


def test_the_first_rule_of_a_choice_that_holds_leads_where_the_decision_says(
    evaluated: Callable[[str], list[Any]],
) -> None:
    rules = dict(states(definition(PROD)))["Route"]["Choices"]
    leads: dict[str, list[str]] = {}
    for case, (holds, *_) in zip(cases(), evaluated("reference"), strict=True):
        if case.state == "Route" and holds is True:
            leads.setdefault(json.dumps(case.given["input"]), []).append(
                rules[int(case.field.split("/")[1])]["Next"]
            )
    first = [leads.get(json.dumps(each), ["HandleError"])[0] for each in INPUTS["Route"]]
    assert first == [
        *(
            "Plan",
            "Think",
            "Act",
            *["Ask"] * len(ASKED),
            "Wait",
            "Park",
            "Park",
            "RollOver",
            "Done",
            "Failed",
        ),
        *("Wait", "Ask", "HandleError"),
    ]
