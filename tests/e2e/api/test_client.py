"""The clients against a deployment, its restarts included."""

import asyncio
import signal
import threading
from pathlib import Path

import pytest

import acta
from tests.conftest import Deployed
from tests.e2e.support.command import Up
from tests.e2e.support.deployments import neutral_environ, prepare
from tests.e2e.support.person import Person
from tests.e2e.support.processes import linux_only
from tests.e2e.support.samples import DELETION, FILES, GOAL, OLD


def of(deployed: Deployed, ann: Person) -> acta.Deployment:
    return acta.Deployment(deployed.url, ann.token)


def test_a_goal_is_started_followed_and_read_with_the_client(deployed: Deployed, ann: Person) -> None:
    with acta.Client(of(deployed, ann)) as client:
        for path, text in FILES.items():
            client.files.write(path, text.encode())
        session_id = client.start(GOAL, metadata={"ticket": "7"}, idempotency_key="a-job")["session_id"]
        assert (
            client.start(GOAL, metadata={"ticket": "7"}, idempotency_key="a-job")["session_id"] == session_id
        )
        events = list(client.follow(session_id))
        session = client.session(session_id)
        assert (session["state"], session["result"] and session["result"]["goal_met"]) == ("completed", True)
        assert [event["seq"] for event in events] == list(range(1, session["last_seq"] + 1))
        assert b"Monday" in client.files.read("notes.md")
        assert {one["path"] for one in client.files.list()} == {*FILES, "summary.md"}
        assert {row["role"] for row in client.messages(session_id)} == {"user", "assistant", "tool"}
        assert client.plan(session_id)["plan"]["status"] == "completed"
        assert (
            sum(row["input_tokens"] for row in client.steps(session_id)) == session["usage"]["input_tokens"]
        )
        assert (client.receipt(session_id)["total_usd"] or 0) > 0


def test_a_person_decides_with_the_asynchronous_client(deployed: Deployed, ann: Person) -> None:
    async def talk() -> str:
        async with acta.AsyncClient(of(deployed, ann)) as client:
            await client.files.write(OLD, b"old")
            started = await asyncio.gather(*(client.start(DELETION) for _ in range(2)))
            for session in await asyncio.gather(*(client.wait(one["session_id"]) for one in started)):
                (asked,) = session["interventions"]
                await client.decide(session["session_id"], asked["intervention_id"], "reject")
            ended = await asyncio.gather(*(client.wait(one["session_id"]) for one in started))
            return " ".join(one["state"] for one in ended)

    assert asyncio.run(talk()) == "completed completed"
    assert ann.file(OLD) == "old"


@linux_only
@pytest.mark.thorough
def test_a_follower_outlives_a_restart_of_the_stack_and_gets_each_event_once(tmp_path: Path) -> None:
    state = tmp_path / "state"
    prepare(state, neutral_environ())
    seen: list[int] = []
    asked = threading.Event()
    failed: list[BaseException] = []

    with Up(state) as first:
        deployment = acta.Deployment(first.ready["api_url"], first.ready["token"])
        with acta.Client(deployment) as client:
            client.files.write(OLD, b"old")
            session_id = client.start(DELETION)["session_id"]

        def follow() -> None:
            try:
                with acta.Client(deployment) as client:
                    for update in client.updates(session_id):
                        seen.extend(event["seq"] for event in update.events)
                        if update.waits_for_a_person:
                            asked.set()
            except BaseException as error:
                failed.append(error)
                asked.set()

        follower = threading.Thread(target=follow)
        follower.start()
        assert asked.wait(60)
        assert first.stop(signal.SIGTERM) == 0
    with Up(state) as second, acta.Client(deployment) as client:
        assert second.ready["api_url"] == deployment.api_url
        (one,) = client.session(session_id)["interventions"]
        client.decide(session_id, one["intervention_id"], "approve")
        follower.join(120)
        assert failed == []
        assert seen == list(range(1, client.session(session_id)["last_seq"] + 1))
        with pytest.raises(acta.errors.NotFoundError):
            client.files.read(OLD)
