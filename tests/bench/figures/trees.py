"""1,000 children of one parent of which 50 work at once, and a cancel of a parent with 50 children at work.

Asked for by name: `make bench ONLY=trees`. `TREE_CHILDREN` makes it smaller. A child asks its model once; what is
cancelled waits for a time, so no worker of a child is amid a turn.
"""

import os
import time
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import httpx

from acta.engine.clock import SystemClock
from acta.engine.log.dynamodb import DynamoLog
from acta.engine.log.head import Head
from acta.engine.store.table_layout import COMMIT, session_pk
from acta.infra.local.deploy import DeployProgress
from tests.bench.figures.receipts import figures_of, used
from tests.bench.stand.capacity import item_size
from tests.bench.stand.provider import ScriptedProvider
from tests.bench.stand.script import Call, Reply
from tests.bench.stand.stand import TENANT, RunFailed, Stand, data_of
from tests.bench.table import columns, heading, number

CHILDREN = int(os.environ.get("TREE_CHILDREN", "1000"))
PER_CALL = 100
AT_ONCE = 50
WORKERS = 16
"""Lambdas of `step` at once: more would wait for the two cores of a small machine. A child whose worker finds none free
for a minute is left to recovery.
"""
PATIENCE_SECONDS = 3_600.0
LOOK_SECONDS = 0.5
MODELS = {"answers": "claude-haiku-4-5", "sleeps": "claude-sonnet-4-5"}
"""Agents that are called, by which the provider tells them apart."""


class TreeProvider(ScriptedProvider):
    """Children have their own replies, the parent has the script's. `asked`: requests of children."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = 0

    def answer(self, body: bytes) -> bytes | None:
        name = next((name for name, model in MODELS.items() if f'"{model}"'.encode() in body), None)
        if name is None:
            return super().answer(body)
        self.asked += 1
        reply = (
            Reply("Nothing there.")
            if name == "answers"
            else Reply("", (Call("wait_until", {"seconds": 86_400}),))
        )
        return self.stream(reply, 0, len(body))


class TreeStand(Stand):
    """With the schedule: recovery works beside, and its requests are among those that are counted."""

    def _without_a_schedule(self) -> None:
        pass


def measure(progress: DeployProgress) -> dict[str, Any]:
    with TreeStand(progress, provider=TreeProvider) as stand, stand.admin() as api:
        stand.client("lambda").put_function_concurrency(
            FunctionName="acta-local-step", ReservedConcurrentExecutions=WORKERS
        )
        for name, model in MODELS.items():
            agent = {"agent_id": name, "name": name, "model": model, "planning": "when_needed"}
            data_of(api.post("/v1/agents", json=agent))
        limits = {"children": 1_000, "children_at_once": AT_ONCE}
        lead = {"agent_id": "lead", "name": "Lead", "planning": "when_needed", "limits": limits}
        data_of(api.post("/v1/agents", json={**lead, "agents": [{"agent": name} for name in MODELS]}))
        _through(stand, api, AT_ONCE)  # everything is warm from here on
        progress.begin(f"{CHILDREN:,} children of one parent")
        children = _through(stand, api, CHILDREN)
        progress.end(f"{CHILDREN:,} children of one parent")
        progress.begin(f"a cancel above {AT_ONCE} children")
        cancel = _cancelled(stand, api)
        progress.end(f"a cancel above {AT_ONCE} children")
    return {"children": children, "cancel": cancel}


def _start(stand: Stand, api: httpx.Client, name: str, children: int) -> str:
    calls = [
        Call(name, {"goal": "Look at it", "map": [f"part {n}" for n in range(first, min(first + PER_CALL, children))],
                    "at_once": AT_ONCE})
        for first in range(0, children, PER_CALL)
    ]  # fmt: skip
    stand.provider.play([Reply("", tuple(calls)), Reply("All is seen to.")])
    body = {"content": "Look at everything", "agent_id": "lead", "token_budget": 100_000_000}
    return str(data_of(api.post("/v1/sessions", json=body))["session_id"])


def _through(stand: Stand, api: httpx.Client, children: int) -> dict[str, float]:
    stand.proxy.take()
    began = time.monotonic()
    session = _start(stand, api, "answers", children)
    head = _until(stand, session, lambda head: head.is_over)
    seconds = time.monotonic() - began
    stand.check_script_is_over()
    tree = [head, *(each for each in _children(stand, session))]
    if len(tree) != 1 + children or any(each.state != "completed" or each.owes_family for each in tree):
        raise RunFailed("a child was lost, or has not reached its goal")
    arns = _executions(stand, {each.session_id for each in tree})
    use = used(stand, stand.proxy.take(), arns)
    items = _commits(stand, session)
    return {
        "children": children,
        "seconds": seconds,
        "commits_of_the_parent": len(items),
        "largest_commit_bytes": max(map(item_size, items)),
        "requests_to_dynamodb": use.reads + use.writes,
        "usd_of_aws": figures_of(use)["USD"],
    }


def _cancelled(stand: Stand, api: httpx.Client) -> dict[str, Any]:
    session = _start(stand, api, "sleeps", AT_ONCE)
    _until(stand, session, lambda head: len(head.children_at_work) == AT_ONCE)
    for child in _children(stand, session):
        _until(stand, child.session_id, lambda head: head.run.parked)
    stand.proxy.take()
    began, tries = time.monotonic(), 0
    while True:
        tries += 1
        answer = api.post(f"/v1/sessions/{session}/cancel", json={})
        if answer.status_code != 503:
            break
        time.sleep(float(answer.headers["Retry-After"]))
    data_of(answer)
    seconds = time.monotonic() - began
    requests = [each for each in stand.proxy.take() if each.service in ("dynamodb", "states", "s3", "sts")]
    if any(each.state != "cancelled" for each in _children(stand, session)):
        raise RunFailed("a child was not cancelled with its parent")
    by_operation = Counter(f"{each.service} {each.operation}" for each in requests)
    return {
        "children": AT_ONCE,
        "seconds": seconds,
        "tries": tries,
        "requests_to_aws": len(requests),
        "each": dict(by_operation.most_common()),
    }


def _children(stand: Stand, session: str) -> list[Head]:
    repository = stand.repository()
    log = DynamoLog(stand.settings["ACTA_TABLE"], SystemClock(), stand.client("dynamodb"))
    return [repository.newest(TENANT, each).head for each in log.children(TENANT, session)]


def _executions(stand: Stand, sessions: set[str]) -> list[str]:
    """The ARNs of theirs, once none of them runs. Raises RunFailed."""
    states, deadline = stand.client("stepfunctions"), time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        pages = states.get_paginator("list_executions").paginate(stateMachineArn=stand.machine)
        found = [
            each for page in pages for each in page["executions"] if each["name"].split("-")[0] in sessions
        ]
        if all(each["status"] != "RUNNING" for each in found):
            return [each["executionArn"] for each in found]
        time.sleep(LOOK_SECONDS)
    raise RunFailed("an execution did not end")


def _commits(stand: Stand, session: str) -> list[Any]:
    pages = (
        stand.client("dynamodb")
        .get_paginator("query")
        .paginate(
            TableName=stand.settings["ACTA_TABLE"],
            KeyConditionExpression="pk = :pk AND begins_with(sk, :commit)",
            ExpressionAttributeValues={
                ":pk": {"S": session_pk(TENANT, session)},
                ":commit": {"S": COMMIT},
            },
        )
    )
    return [item for page in pages for item in page["Items"]]


def _until(stand: Stand, session: str, holds: Callable[[Any], bool]) -> Any:
    """The head for which it holds. Looks at the table itself, so that nothing of it is counted. Raises RunFailed."""
    repository, deadline = stand.repository(), time.monotonic() + PATIENCE_SECONDS
    while not holds(head := repository.newest(TENANT, session).head):
        if time.monotonic() > deadline:
            raise RunFailed(f"a parent had {head.children_made} children when its time was over")
        time.sleep(LOOK_SECONDS)
    return head


def report(found: Mapping[str, Any]) -> None:
    children, cancel = found["children"], found["cancel"]
    heading(f"{number(children['children'])} children of one parent, {AT_ONCE} at once")
    columns(
        [""],
        [
            ("seconds, on this machine", [number(children["seconds"])]),
            ("commits of the parent", [number(children["commits_of_the_parent"])]),
            ("its largest commit, bytes", [number(children["largest_commit_bytes"])]),
            ("requests to DynamoDB", [number(children["requests_to_dynamodb"])]),
            ("USD of AWS", [f"{children['usd_of_aws']:.4f}"]),
        ],
    )
    print(
        f"A cancel above {cancel['children']} children was answered after {cancel['seconds']:.1f} s, "
        f"{cancel['tries']} requests of a person and {number(cancel['requests_to_aws'])} to AWS."
    )
